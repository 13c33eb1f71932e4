//! Random worlds of ManagedResources: their manifests, existing objects, and steps.

use std::collections::BTreeMap;

use fastrand::Rng;
use serde_json::{Map, Value, json};

use crate::run::scenario::ObjectStates;

use super::documents::{OBJECTS, choose, happens, labels, live, manifest};

const API_VERSION: &str = "resources.gardener.cloud/v1alpha1";
/// Maximum number of objects in the manifests of one world.
const MOST: usize = 5;

/// Generates a world.
pub(super) fn world(rng: &mut Rng) -> Value {
    let objects: Vec<&str> = (0..=rng.usize(..MOST)).map(|_| choose(rng, &OBJECTS)).collect();
    let mut generator = Generator { rng, objects, keys: BTreeMap::new() };
    let (config, has_more) = (generator.config(), generator.happens(25));
    let mut source = vec![generator.managed(has_more), generator.secret("mr")];
    // Sometimes the Secret is missing.
    if has_more && generator.happens(85) {
        source.push(generator.secret("more"));
    }
    let steps = (0..generator.rng.usize(..4)).map(|_| generator.step()).collect::<Vec<_>>();
    json!({
        "config": config,
        "sourceCluster": source,
        "targetCluster": generator.existing(),
        "steps": steps,
    })
}

/// Whether the conditions of a ManagedResource report work in progress.
pub(super) fn is_in_progress(object: &Value) -> bool {
    let status = |kind: &str| object["status"]["conditions"][kind]["status"].clone();
    object["kind"] == "ManagedResource"
        && (status("ResourcesApplied") == "Progressing" || status("ResourcesHealthy") == "Unknown")
}

/// The reason of the condition `ResourcesApplied`, `untouched` without one, or `gone` without the ManagedResource.
pub(super) fn outcome_of(states: &ObjectStates) -> String {
    let managed =
        states.iter().find(|((_, kind, name), _)| kind == "ManagedResource" && name == "default/mr");
    match managed.map(|(_, object)| &object["status"]["conditions"]["ResourcesApplied"]["reason"]) {
        None => "gone".to_owned(),
        Some(reason) => reason.as_str().unwrap_or("untouched").to_owned(),
    }
}

struct Generator<'a, 'b> {
    rng: &'a mut Rng,
    /// Objects for the manifests of this world.
    objects: Vec<&'b str>,
    /// Objects in the keys of its Secrets.
    keys: BTreeMap<(String, &'static str), Vec<String>>,
}

impl Generator<'_, '_> {
    fn happens(&mut self, often: u8) -> bool {
        happens(self.rng, often)
    }

    fn config(&mut self) -> Value {
        let mut controllers = Map::new();
        if self.happens(15) {
            controllers.insert("clusterID".to_owned(), json!("seed-1"));
        }
        if self.happens(15) {
            controllers.insert("resourceClass".to_owned(), json!(choose(self.rng, &["seed", "resources"])));
        }
        let mut of_managed = Map::new();
        if self.happens(30) {
            of_managed.insert("alwaysUpdate".to_owned(), json!(true));
        }
        if self.happens(10) {
            of_managed.insert("managedByLabelValue".to_owned(), json!("me"));
        }
        if !of_managed.is_empty() {
            controllers.insert("managedResource".to_owned(), json!(of_managed));
        }
        if controllers.is_empty() { json!({}) } else { json!({"controllers": controllers}) }
    }

    fn managed(&mut self, has_more: bool) -> Value {
        let mut spec = json!({"secretRefs": [{"name": "mr"}]});
        if has_more {
            spec["secretRefs"] = json!([{"name": "mr"}, {"name": "more"}]);
        }
        let fields = self.fields();
        if let (Some(spec), Value::Object(fields)) = (spec.as_object_mut(), fields) {
            spec.extend(fields);
        }
        let mut metadata = json!({"name": "mr", "namespace": "default"});
        if self.happens(5) {
            let value = choose(self.rng, &["true", "false", "T"]);
            metadata["annotations"] = json!({"resources.gardener.cloud/ignore": value});
        }
        json!({"apiVersion": API_VERSION, "kind": "ManagedResource", "metadata": metadata, "spec": spec})
    }

    /// Random fields of a ManagedResource's spec.
    fn fields(&mut self) -> Value {
        let mut fields = Map::new();
        for (name, often) in [
            ("forceOverwriteLabels", 20),
            ("forceOverwriteAnnotations", 20),
            ("keepObjects", 15),
            ("deletePersistentVolumeClaims", 10),
        ] {
            if self.happens(often) {
                fields.insert(name.to_owned(), json!(self.rng.u8(..4) > 0));
            }
        }
        if self.happens(25) {
            fields.insert("injectLabels".to_owned(), labels(self.rng));
        }
        if self.happens(15) {
            fields.insert("class".to_owned(), json!(choose(self.rng, &["resources", "seed", ""])));
        }
        if self.happens(8) {
            let alike = json!([[{"group": "", "kind": "ConfigMap"}, {"group": "", "kind": "Secret"}]]);
            fields.insert("equivalences".to_owned(), alike);
        }
        Value::Object(fields)
    }

    fn secret(&mut self, name: &str) -> Value {
        let mut manifests = Map::new();
        for _ in 0..=self.rng.usize(..4) {
            let (key, of_key) = self.key(name);
            manifests.insert(key.to_owned(), of_key);
        }
        json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name, "namespace": "default"},
            "type": "Opaque", "manifests": manifests})
    }

    /// A key of a Secret and manifests for it; invalid texts only in YAML keys.
    fn key(&mut self, secret: &str) -> (&'static str, Value) {
        let mut key = choose(self.rng, &["a.yaml", "b.yaml", "c.json", "d"]);
        let objects = self.objects_of(secret, key);
        let manifests: Vec<Value> = objects.iter().map(|object| manifest(self.rng, object)).collect();
        if key == "c.json" && manifests.iter().any(Value::is_string) {
            key = "b.yaml";
        }
        self.keys.insert((secret.to_owned(), key), objects);
        (key, json!(manifests))
    }

    /// The objects of a key: usually its earlier ones, or objects that no other key has.
    fn objects_of(&mut self, secret: &str, key: &'static str) -> Vec<String> {
        let earlier = self.keys.get(&(secret.to_owned(), key)).cloned();
        if let Some(earlier) = earlier.filter(|_| happens(self.rng, 60)) {
            return earlier;
        }
        let mut objects = Vec::new();
        for _ in 0..=usize::from(self.happens(25)) {
            let object = self.object();
            let is_elsewhere = self.keys.values().flatten().chain(&objects).any(|other| *other == object);
            if !is_elsewhere || self.happens(4) {
                objects.push(object);
            }
        }
        objects
    }

    fn object(&mut self) -> String {
        // Sometimes one that no other manifest defines.
        let of = if self.happens(15) { &OBJECTS[..] } else { &self.objects[..] };
        of[self.rng.usize(..of.len())].to_owned()
    }

    /// Objects that other users created before.
    fn existing(&mut self) -> Value {
        let mut existing: Vec<Value> = Vec::new();
        for object in self.objects.clone() {
            let unknown = object.starts_with("Widget");
            if unknown || !self.happens(30) {
                continue;
            }
            let mut object = live(self.rng, object);
            // Existing objects must be valid.
            if object["spec"]["ports"][0]["port"] == 99_999 {
                object["spec"]["ports"][0]["port"] = json!(80);
            }
            if self.happens(50) {
                object["metadata"]["labels"]["theirs"] = json!("x");
            }
            if self.happens(50) {
                object["metadata"]["annotations"]["theirs"] = json!("x");
            }
            if self.happens(30) {
                let origin = choose(self.rng, &["other/mr", "default/mr", "seed-1:default/mr"]);
                object["metadata"]["annotations"]["resources.gardener.cloud/origin"] = json!(origin);
            }
            let identity = |object: &Value| (object["kind"].clone(), object["metadata"]["name"].clone());
            if existing.iter().all(|other| identity(other) != identity(&object)) {
                existing.push(object);
            }
        }
        json!(existing)
    }

    fn step(&mut self) -> Value {
        match self.rng.u8(..10) {
            0..=3 => self.of_secret(),
            4..=6 => self.drift(),
            7 | 8 => self.of_managed(),
            _ => json!([{"delete": managed(), "in": "sourceCluster"}]),
        }
    }

    /// Adds, changes or removes manifests.
    fn of_secret(&mut self) -> Value {
        let secret =
            json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "mr", "namespace": "default"}});
        let (key, manifests) = self.key("mr");
        let manifests = if self.happens(40) {
            self.keys.remove(&("mr".to_owned(), key));
            Value::Null
        } else {
            manifests
        };
        json!([{"patch": secret, "in": "sourceCluster", "with": {"manifests": {key: manifests}}}])
    }

    /// Another user changes or deletes a managed object and requests a reconciliation of the ManagedResource.
    fn drift(&mut self) -> Value {
        let object = self.object();
        let known = if object.starts_with("Widget") { "ConfigMap a" } else { object.as_str() };
        let mut changed = live(self.rng, known);
        let metadata =
            json!({"name": changed["metadata"]["name"], "namespace": changed["metadata"]["namespace"]});
        let head =
            json!({"apiVersion": changed["apiVersion"], "kind": changed["kind"], "metadata": metadata});
        let first = if self.happens(30) {
            json!({"delete": head, "in": "targetCluster"})
        } else {
            changed["metadata"] = json!({"labels": labels(self.rng), "annotations": {"theirs": "y"}});
            if self.happens(20) {
                changed["metadata"]["annotations"]["resources.gardener.cloud/origin"] = Value::Null;
            }
            json!({"patch": head, "in": "targetCluster", "with": changed})
        };
        let annotations = json!({"gardener.cloud/operation": "reconcile"});
        let again = json!({"metadata": {"annotations": annotations}});
        json!([first, {"patch": managed(), "in": "sourceCluster", "with": again}])
    }

    fn of_managed(&mut self) -> Value {
        let with = match self.rng.u8(..100) {
            0..15 => {
                let value = choose(self.rng, &[&json!("true"), &Value::Null]).clone();
                json!({"metadata": {"annotations": {"resources.gardener.cloud/ignore": value}}})
            }
            15..30 => {
                json!({"spec": {"secretRefs": choose(self.rng, &[&json!([{"name": "more"}]), &json!([])])}})
            }
            _ => json!({"spec": self.fields()}),
        };
        json!([{"patch": managed(), "in": "sourceCluster", "with": with}])
    }
}

fn managed() -> Value {
    json!({"apiVersion": API_VERSION, "kind": "ManagedResource", "metadata": {"name": "mr", "namespace": "default"}})
}
