//! What kube-apiserver writes by itself when it starts: the Service that leads to it, priorities, the APIServices of what it
//! serves, how it is asked for others.
//!
//! `objects.json` is what a fresh kube-apiserver has, read off it by `cargo xtask kinds`; roles and namespaces are written
//! otherwise.

mod authentication;

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use schema::Resource;
use serde_json::Value;

use crate::clock::rfc3339;
use crate::object::meta;
use crate::state::Shared;
use crate::store::Expect;

const OBJECTS: &str = include_str!("objects.json");

/// Where others are told that the server is: an address for documentation, where nobody is.
pub(crate) const ADVERTISED: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1)), 6443);

/// The name of the machine, as nobody is to know that of this one.
const HOSTNAME: &str = "embedded";

/// What the objects say of this server.
struct Facts {
    texts: Vec<(&'static str, String)>,
    port: u16,
}

/// Writes all of them.
pub(crate) fn write(shared: &Shared, advertised: SocketAddr) {
    let facts = Facts::of(shared, advertised);
    let objects: Vec<Value> = serde_json::from_str(OBJECTS).expect("the file is JSON");
    for mut object in objects {
        let endpoints = object["kind"] == "Endpoints" || object["kind"] == "EndpointSlice";
        if endpoints && advertised.ip().is_loopback() {
            // No endpoint may be there, so that kube-apiserver writes none either.
            continue;
        }
        facts.fill(&mut object);
        authentication::fill(shared, &mut object);
        put(shared, object);
    }
}

fn put(shared: &Shared, mut object: Value) {
    let served = shared.registry.served();
    let is_own = |resource: &&Resource| {
        object["kind"] == resource.kind && object["apiVersion"] == resource.api_version()
    };
    // A server of fewer kinds has fewer of these objects.
    let Some(resource) = served.kinds.resources().find(is_own) else { return };
    let Some(target) = served.target(&resource.group, &resource.version, &resource.plural) else { return };
    meta::set(&mut object, "uid", shared.ids.uid());
    meta::set(&mut object, "creationTimestamp", rfc3339(shared.clock.now()));
    let key = crate::call::key(target.resource.namespaced, meta::namespace(&object), meta::name(&object));
    if shared.store.put(&target.table, &key, Expect::Absent, object).is_err() {
        tracing::debug!(table = target.table, key, "kept an object that was there before the server started");
    }
}

impl Facts {
    fn of(shared: &Shared, advertised: SocketAddr) -> Self {
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
                for (placeholder, known) in &self.texts {
                    *text = text.replace(placeholder, known);
                }
            }
            Value::Array(list) => list.iter_mut().for_each(|value| self.fill(value)),
            Value::Object(fields) => fields.values_mut().for_each(|value| self.fill(value)),
            _ => {}
        }
    }
}
