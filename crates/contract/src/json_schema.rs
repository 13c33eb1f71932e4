//! JSON Schemas of the files, for completion in editors. They are more lenient than the loader.

use std::collections::BTreeMap;

use schemars::{JsonSchema, SchemaGenerator, generate::SchemaSettings};
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::load::keywords;

mod explanations;
mod then;
mod variations;

use then::Then;

/// The schema of a type, draft 2020-12.
#[must_use]
pub fn of<T: JsonSchema>() -> Value {
    SchemaGenerator::new(SchemaSettings::draft2020_12()).into_root_schema_for::<T>().to_value()
}

/// The schema of a contract file.
#[must_use]
pub fn contract() -> Value {
    of::<File>()
}

/// The schema of a file of variations.
#[must_use]
pub fn variations() -> Value {
    of::<variations::VariationsFile>()
}

/// The schema of a fixture: an object with its kind. Its fields are those of the kind, which `lint` checks.
#[must_use]
pub fn fixture() -> Value {
    let text = json!({"type": "string", "minLength": 1});
    let fields = json!({
        "apiVersion": text, "kind": text, "metadata": {"type": "object"},
        "like": {"type": "string", "description": "The fixture that it starts from."},
    });
    let named = json!({"required": ["apiVersion", "kind"]});
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Fixture",
        "description": "An object that cases start from, as an API server sends it.",
        "type": "object", "properties": fields, "anyOf": [named, {"required": ["like"]}],
    })
}

/// The schema of a file of explanations.
#[must_use]
pub fn explanations() -> Value {
    of::<explanations::ExplanationsFile>()
}

/// A contract: one behaviour and its clauses.
#[derive(Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[schemars(title = "Contract")]
struct File {
    #[schemars(extend("const" = "conformance.gardener.cloud/v1alpha1"))]
    api_version: String,
    #[schemars(extend("const" = "Contract"))]
    kind: String,
    metadata: Metadata,
    spec: Spec,
}

#[derive(Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Metadata {
    /// Name of the behaviour: pod-scheduler-name. Files with the same name are one contract.
    name: String,
    /// `component` names the component with this behaviour.
    labels: BTreeMap<String, String>,
}

#[derive(Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Spec {
    /// The form of the contract.
    #[schemars(extend("enum" = ["mutation", "validation", "flags", "configuration", "process", "objects", "versions", "scenario"]))]
    form: String,
    /// Source of clauses that have none of their own.
    source: Option<Source>,
    /// The webhook or controller; a configuration needs none.
    target: Option<Target>,
    /// Path prefixes that the target may change; `[]` is any element.
    only_touches: Option<Vec<String>>,
    /// Path prefixes whose changes clauses of another contract of the webhook explain.
    elsewhere: Option<Vec<String>>,
    /// Lists whose order does not matter.
    unordered: Option<Vec<String>>,
    /// Keys of lists that the schema does not declare: path → field.
    list_keys: Option<BTreeMap<String, String>>,
    /// Laws that do not apply, each with its reason.
    #[schemars(default, schema_with = "laws")]
    exempt: Option<Value>,
    /// Component configuration that every case starts from.
    config: Option<Map<String, Value>>,
    /// Values of the parameters that clauses name with `$parameter`, for a target that runs with `config`; other
    /// targets state their own.
    parameters: Option<Map<String, Value>>,
    /// Objects by name, for `like`; they may contain `<column>`.
    fixtures: Option<BTreeMap<String, Value>>,
    /// Form versions: the time of the decisions, with its zone: `2024-06-01T00:00:00Z`.
    now: Option<String>,
    /// Form versions: the offered versions, as a table (version, classification, expires), in words
    /// (`1.27.3 deprecated +30d, 1.28.0 preview`), or as a difference from the fixture.
    cloud_profile: Option<Value>,
    /// Form versions: the offered images, as a table: name, version, classification, expires, architectures, cri, kubelet.
    machine_images: Option<Value>,
    /// Form versions: the Shoot, as a difference from the fixture.
    shoot: Option<Value>,
    /// Form versions: where rows run: decision, admission, reconcile.
    runs_on: Option<Vec<String>>,
    /// Form versions: `when` of clauses that have none.
    when: Option<When>,
    /// Form versions: `then` of clauses that have none.
    then: Option<Then>,
    /// Form flags: the table: id, flag, emits, webhook, level, needs.
    flags: Option<String>,
    /// Form flags: the objects before each request, as in a clause.
    given: Option<Given>,
    /// Form objects: namespaces as Gardener emits them: `{workers: {gardener: v1.82.0, objects: [{like: …}]}}`; one
    /// may start from another with `like` and `change`.
    namespaces: Option<BTreeMap<String, Namespace>>,
    /// The clauses; in the form flags, additions to the rows of the table.
    clauses: Option<Vec<Clause>>,
}

#[derive(Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Source {
    /// Public document: its path in Gardener's repository.
    document: Option<String>,
    /// Source file of the original, if only its code shows the behaviour.
    code: Option<String>,
    /// Version of the document or the code.
    version: Option<String>,
    /// Heading of the section.
    section: Option<String>,
    /// Hash of the sentence: `lint --hash 'the words'`.
    #[schemars(regex(pattern = "^[0-9a-f]{8}$"))]
    sentence: Option<String>,
}

#[derive(Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Target {
    /// Name of the webhook.
    webhook: Option<String>,
    /// Name of the controller.
    controller: Option<String>,
    /// Resources that the registration must cover: `apps/v1 deployments`.
    handles: Option<Vec<String>>,
    /// The component's registration that cases run under.
    #[schemars(extend("examples" = ["seed", "shoot"]))]
    instance: Option<String>,
    /// Form flags: the container with the command line.
    container: Option<String>,
    /// Form flags: the unit whose ExecStart is the command line.
    unit: Option<String>,
}

#[derive(Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Clause {
    /// Never reused: GRM-HAC-001.
    id: String,
    /// The sentence, in our own words; form flags: else the rows say it.
    text: Option<String>,
    /// How binding it is; MUST if absent.
    #[schemars(extend("enum" = ["MUST", "SHOULD", "MAY"]))]
    level: Option<String>,
    /// The level with `--strict`, if `level` is lower because Gardener itself does not keep the clause.
    #[schemars(extend("enum" = ["MUST", "SHOULD", "MAY"]))]
    strict: Option<String>,
    /// Whom it binds; gardener if absent.
    #[schemars(extend("enum" = ["gardener", "extension", "both"]))]
    binds: Option<String>,
    /// Versions of the target that it holds for, or releases of Gardener in contracts that distinguish them: `>=1.58`.
    versions: Option<String>,
    /// Features of the target it needs: `shoot`, `not workerless`.
    needs: Option<Vec<String>>,
    /// Clauses without which this one means nothing.
    presupposes: Option<Vec<String>>,
    /// Ids of the reference's rows that it covers.
    covers: Option<Vec<String>>,
    /// Implementations that differ, and why.
    differs: Option<BTreeMap<String, String>>,
    /// Substrates on which it is not asked, and why: `{garden: the server changes a Seed through binding alone}`.
    not_on: Option<BTreeMap<String, String>>,
    /// Its source; missing fields are the contract's.
    source: Option<Source>,
    /// Registration that its cases run under.
    instance: Option<String>,
    /// Component configuration, merged over the contract's: a map, or a column with maps.
    config: Option<Value>,
    /// A table with bars; `<column>` in other keys stands for a cell.
    table: Option<String>,
    /// The objects before the request.
    given: Option<Given>,
    /// The action; none in the form configuration.
    when: Option<When>,
    /// The assertions.
    then: Option<Then>,
    /// Form scenario: the steps, in order.
    steps: Option<Vec<Step>>,
    /// Form scenario: faults under which it is repeated.
    faults: Option<Vec<String>>,
    /// Form versions: the time of the decisions.
    now: Option<String>,
    /// Form versions: the offered versions; replaces the contract's.
    cloud_profile: Option<Value>,
    /// Form versions: the offered images; replaces the contract's.
    machine_images: Option<Value>,
    /// Form versions: a difference from the contract's Shoot.
    shoot: Option<Value>,
    /// Form versions: the old Shoot, as a difference from the contract's.
    old: Option<Value>,
    /// Form versions: where rows run: decision, admission, reconcile.
    runs_on: Option<Vec<String>>,
    /// Form versions: why the clause runs on decision alone.
    why: Option<String>,
    /// Form objects: the objects: `deployment/kube-apiserver`, `deployment/*`.
    object: Option<Value>,
    /// Form objects: the clause applies only to objects that satisfy this.
    r#where: Option<Value>,
    /// Form objects: the clause applies only in namespaces with these objects.
    beside: Option<Value>,
    /// Form objects: the clause applies only in namespaces without these objects.
    without: Option<Value>,
    /// Form objects: what each object must satisfy; `$present`: the namespace has one, `$absent`: it has none.
    emits: Option<Value>,
    /// Form objects: a webhook may add what Gardener must not emit.
    #[schemars(extend("enum" = ["may add"]))]
    webhook: Option<String>,
    /// Form objects: changes that break this clause and no other.
    breaks: Option<Vec<Break>>,
}

#[derive(Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Namespace {
    /// The release of Gardener that emits it.
    gardener: Option<String>,
    /// The namespace that it starts from.
    like: Option<String>,
    /// Its objects: fixtures, or differences from them.
    objects: Option<Vec<Value>>,
    /// Differences by object: `deployment/kube-apiserver: {…}`; `~` removes one.
    change: Option<Map<String, Value>>,
    /// Variations: each combination makes a namespace.
    vary: Option<String>,
}

#[derive(Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Break {
    /// Its name.
    case: String,
    /// The namespace that is changed; default: the first in which the clause applies.
    namespace: Option<String>,
    /// Differences by object; `~` removes an object, `like` adds a missing one.
    change: Map<String, Value>,
}

#[derive(Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Step {
    /// Its name.
    name: String,
    /// Moves the clock first: `{to: 9h35m, after: first token}`.
    advance: Option<Value>,
    /// Actions of another user: `{sourceCluster: {touch: [secret/a]}}`, `{target: stop}`.
    r#do: Option<Map<String, Value>>,
    /// The controller that must have reconciled: `{reconciles: token-requestor}`.
    witness: Option<Value>,
    /// States that are eventually reached: `{targetCluster: {configmap/a: $present}}`.
    eventually: Option<Map<String, Value>>,
    /// States that a watcher sees in this order.
    history: Option<Map<String, Value>>,
    /// What must not happen: `{writes: secret/a}`.
    never: Option<Map<String, Value>>,
    /// Requests that the target sends: `{writes: 0}`, `{writes: 1, of: configmap/a}`, `{order: [create
    /// configmap/a]}`, `{perObject: 1}`.
    requests: Option<Value>,
}

#[derive(Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Given {
    /// Objects that exist already: a list, or a column with lists.
    cluster: Option<Value>,
    /// Form scenario: objects in the source cluster.
    source_cluster: Option<Value>,
    /// Form scenario: objects in the target cluster.
    target_cluster: Option<Value>,
    /// The namespace of the object: a fixture, or a difference from one.
    namespace: Option<Value>,
    /// The object before an UPDATE or a DELETE.
    old: Option<Value>,
    /// The object of the request: `{like: pod, spec: …}`.
    object: Option<Value>,
}

#[derive(Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct When {
    /// CREATE, UPDATE, DELETE, CONNECT, or a list of them.
    #[schemars(default, schema_with = "operations")]
    admission: Option<Value>,
    /// Deletes all objects of a resource: `infrastructures.extensions.gardener.cloud`.
    delete_collection: Option<String>,
    /// Overrides fields of the AdmissionRequest; `~` removes one. The request goes directly to the webhook. Form
    /// process: a request to a server of the program: `{server: probes, path: /healthz}`.
    #[schemars(default, schema_with = "request")]
    request: Option<Value>,
    /// Sends the request directly to the webhook, whatever its registration says.
    direct: Option<Value>,
    /// Version of the AdmissionReview: v1 or v1beta1.
    review: Option<Value>,
    /// Reads the webhook configuration of an instance: seed, shoot, or a list of them.
    registration: Option<Value>,
    /// Form versions: maintenance, window, rolling, support.
    decide: Option<Value>,
    /// With maintenance: whether the written Shoot passes through the garden's admission.
    admitted: Option<Value>,
    /// With rolling: what the provider's extension adds to the hash.
    additional: Option<Value>,
    /// With support: the release of Gardener.
    gardener: Option<Value>,
    /// With support: garden, seed, shoot.
    cluster: Option<Value>,
    /// With support: the cluster's version of Kubernetes.
    version: Option<Value>,
    /// Form process: the arguments with which the program runs to its end: a list, or a column with lists.
    run: Option<Value>,
    /// Form process: the signal that the running program receives, SIGTERM or SIGINT.
    signal: Option<String>,
}

fn laws(_: &mut SchemaGenerator) -> schemars::Schema {
    let properties: Map<String, Value> = keywords::laws()
        .map(|law| (law.to_owned(), json!({"type": "string", "description": "Why the law does not hold."})))
        .collect();
    object(&properties)
}

fn request(_: &mut SchemaGenerator) -> schemars::Schema {
    let fields = keywords::REQUEST.iter().chain(&keywords::WHEN_PROCESS_REQUEST);
    let fields: Map<String, Value> = fields.map(|field| ((*field).to_owned(), json!({}))).collect();
    // A column may name the field, `{<field>: ~}`, or hold the whole request: `<request>`.
    let map = json!({
        "type": "object", "properties": fields, "patternProperties": {"^<.+>$": {}}, "additionalProperties": false,
    });
    schemars::json_schema!({"anyOf": [map, {"type": "string", "pattern": "^<.+>$"}]})
}

fn operations(_: &mut SchemaGenerator) -> schemars::Schema {
    let one = json!({"type": "string", "examples": keywords::OPERATIONS});
    schemars::json_schema!({"anyOf": [one, {"type": "array", "items": {"enum": keywords::OPERATIONS}}]})
}

fn object(properties: &Map<String, Value>) -> schemars::Schema {
    schemars::json_schema!({"type": "object", "properties": properties, "additionalProperties": false})
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::gardener::decision::Question;

    fn questions() -> [Question; 6] {
        let text = String::new;
        [
            Question::Admission { operation: text() },
            Question::Maintenance { admitted: false },
            Question::Maintenance { admitted: true },
            Question::Window,
            Question::Rolling { additional: Vec::new() },
            Question::Support { gardener: text(), cluster: text(), version: text() },
        ]
    }

    #[test]
    fn the_schema_of_variations_has_the_keys_of_the_loader() {
        let schema = variations();
        let keys = |of: &Value| -> BTreeSet<String> {
            of["properties"].as_object().expect("an object").keys().cloned().collect()
        };
        let known =
            |names: &[&str]| -> BTreeSet<String> { names.iter().map(|name| (*name).to_owned()).collect() };
        assert_eq!(keys(&schema), known(&keywords::ROOT));
        assert_eq!(keys(&schema["$defs"]["VariationsSpec"]), known(&keywords::VARIATIONS));
        assert_eq!(schema["$defs"]["VariationsSpec"]["required"], json!(["axes", "change"]));
        let head = &schema["properties"]["kind"];
        assert_eq!(head["const"], "Variations");
    }

    #[test]
    fn the_schema_of_contracts_has_the_keys_of_the_loader() {
        let schema = contract();
        let keys = |of: &Value| -> BTreeSet<String> {
            of["properties"].as_object().expect("an object").keys().cloned().collect()
        };
        let of =
            |names: &[&str]| -> BTreeSet<String> { names.iter().map(|name| (*name).to_owned()).collect() };
        assert_eq!(keys(&schema), of(&keywords::ROOT));
        let then = [
            &keywords::THEN_ANSWER[..],
            &keywords::THEN_REGISTRATION,
            &keywords::THEN_CONFIGURATION,
            &keywords::THEN_PROCESS,
        ]
        .concat();
        let result_fields = questions().into_iter().flat_map(|question| question.tells().iter().copied());
        let then: Vec<&str> = then.into_iter().chain(result_fields).collect();
        let spec =
            [&keywords::SPEC[..], &keywords::SPEC_VERSIONS, &keywords::SPEC_FLAGS, &keywords::SPEC_OBJECTS]
                .concat();
        let clause = [&keywords::CLAUSE[..], &keywords::CLAUSE_VERSIONS, &keywords::CLAUSE_OBJECTS].concat();
        let when = [&keywords::WHEN[..], &keywords::WHEN_VERSIONS, &keywords::WHEN_PROCESS].concat();
        let given = [&keywords::GIVEN[..], &keywords::SIDES].concat();
        let table: [(&str, &[&str]); 11] = [
            ("Metadata", &keywords::METADATA),
            ("Spec", &spec),
            ("Source", &keywords::SOURCE),
            ("Target", &keywords::TARGET),
            ("Clause", &clause),
            ("Given", &given),
            ("When", &when),
            ("Then", &then),
            ("Cause", &keywords::CAUSE),
            ("Namespace", &keywords::NAMESPACE),
            ("Break", &keywords::BREAK),
        ];
        for (name, known) in table {
            assert_eq!(keys(&schema["$defs"][name]), of(known), "{name}");
        }
    }
}
