//! The objects that kube-apiserver writes when it starts: the Service `kubernetes`, priority classes, APIServices, and
//! the ConfigMap that tells extension API servers whom to trust.
//!
//! `objects.json` contains the objects of a fresh kube-apiserver, as `cargo xtask kinds` reads them; roles and
//! namespaces are written elsewhere.

mod authentication;
mod release;

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use serde_json::Value;

use crate::clock::rfc3339;
use crate::object::meta;
use crate::state::ServerState;
use crate::store::Expect;

const OBJECTS: &str = include_str!("objects.json");

/// The default advertised address: one reserved for documentation (TEST-NET-1), where no server can be.
pub(crate) const ADVERTISED: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1)), 6443);

/// The host name in the objects; the real one is not disclosed.
const HOSTNAME: &str = "embedded";

/// The values of the placeholders in `objects.json`.
struct Placeholders {
    texts: Vec<(&'static str, String)>,
    port: u16,
}

/// Writes all objects.
pub(crate) fn write(shared: &ServerState, advertised: SocketAddr) {
    let placeholders = Placeholders::of(shared, advertised);
    let objects: Vec<Value> = serde_json::from_str(OBJECTS).expect("the file is JSON");
    let added = release::api_services(&shared.registry.served().kinds, &objects);
    for mut object in objects.into_iter().chain(added) {
        let endpoints = object["kind"] == "Endpoints" || object["kind"] == "EndpointSlice";
        if endpoints && advertised.ip().is_loopback() {
            // Loopback addresses are not valid endpoints; kube-apiserver writes none either.
            continue;
        }
        placeholders.fill(&mut object);
        authentication::fill(shared, &mut object);
        put(shared, object);
    }
}

fn put(shared: &ServerState, object: Value) {
    let served = shared.registry.served();
    let Some((resource, mut object)) = release::of(&served.kinds, object) else { return };
    let Some(target) = served.target(&resource.group, &resource.version, &resource.plural) else { return };
    meta::set(&mut object, "uid", shared.ids.uid());
    meta::set(&mut object, "creationTimestamp", rfc3339(shared.clock.now()));
    let key = crate::call::key(target.resource.namespaced, meta::namespace(&object), meta::name(&object));
    if shared.store.put(&target.table, &key, Expect::Absent, object).is_err() {
        tracing::debug!(table = target.table, key, "kept an object that was there before the server started");
    }
}

impl Placeholders {
    fn of(shared: &ServerState, advertised: SocketAddr) -> Self {
        let now = shared.clock.now();
        let identity: String =
            shared.ids.uid().chars().filter(char::is_ascii_alphanumeric).take(26).collect();
        let lease = format!("apiserver-{identity}");
        let texts = vec![
            ("${time}", rfc3339(now)),
            ("${micro-time}", now.strftime("%Y-%m-%dT%H:%M:%S.%6fZ").to_string()),
            ("${date}", now.strftime("%Y-%m-%d").to_string()),
            ("${holder}", format!("{lease}_{}", shared.ids.uid())),
            ("${lease}", lease),
            ("${hostname}", HOSTNAME.to_owned()),
            ("${address}", advertised.ip().to_string()),
            ("${port}", advertised.port().to_string()),
        ];
        Self { texts, port: advertised.port() }
    }

    fn fill(&self, value: &mut Value) {
        match value {
            Value::String(text) if text == "${port}" => *value = self.port.into(),
            Value::String(text) if text.contains("${") => {
                for (placeholder, replacement) in &self.texts {
                    *text = text.replace(placeholder, replacement);
                }
            }
            Value::Array(list) => list.iter_mut().for_each(|value| self.fill(value)),
            Value::Object(fields) => fields.values_mut().for_each(|value| self.fill(value)),
            _ => {}
        }
    }
}
