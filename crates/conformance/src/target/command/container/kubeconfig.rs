//! Makes a kubeconfig usable for a container: reduces it to the current context, embeds files, and replaces loopback addresses.

use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::Uri;
use serde_json::{Map, Value};

use super::network::{self, HostAccess, MACHINE, Network};
use super::relay::Relay;
use crate::target::TargetError;
use crate::target::command::file;

/// Fields that name a file, and those that hold its content in base64.
const FILES: [(&str, &str); 3] = [
    ("certificate-authority", "certificate-authority-data"),
    ("client-certificate", "client-certificate-data"),
    ("client-key", "client-key-data"),
];

/// The text for a container in this network, and relays to the servers.
pub(super) async fn for_container(
    path: &Path,
    network: &Network,
) -> Result<(String, Vec<Relay>), TargetError> {
    let name = path.display().to_string();
    let text = std::fs::read(path).map_err(|source| file("read", &name, source))?;
    // Like client-go, ignores duplicate keys and documents after the first.
    let mut kubeconfig = formats::yaml::first_document(&text)
        .map_err(|error| TargetError::Description { what: name, reason: error.to_string() })?;
    let folder = path.parent().unwrap_or(Path::new(""));
    reduce(&mut kubeconfig);
    let mut relays = Vec::new();
    for user in parts(&mut kubeconfig, "users", "user") {
        if ["exec", "auth-provider"].iter().any(|field| user.contains_key(*field)) {
            let address = path.display().to_string();
            let reason = "its user gets credentials from a program of this machine; use a kubeconfig with a token or a certificate";
            return Err(TargetError::NotRoutable { address, reason: reason.to_owned() });
        }
        embed(user, folder)?;
    }
    for cluster in parts(&mut kubeconfig, "clusters", "cluster") {
        embed(cluster, folder)?;
        relays.extend(replace_loopback(cluster, network).await?);
    }
    Ok((kubeconfig.to_string(), relays))
}

/// Keeps only the current context with its cluster and user, so that no other credentials are passed on.
fn reduce(kubeconfig: &mut Value) {
    let Some(current) = kubeconfig["current-context"].as_str().map(str::to_owned) else { return };
    retain(kubeconfig, "contexts", &current);
    let context = kubeconfig["contexts"][0]["context"].clone();
    for (list, field) in [("clusters", "cluster"), ("users", "user")] {
        retain(kubeconfig, list, context[field].as_str().unwrap_or_default());
    }
}

/// Keeps only the entries of a list with this name.
fn retain(kubeconfig: &mut Value, list: &str, name: &str) {
    if let Some(list) = kubeconfig.get_mut(list).and_then(Value::as_array_mut) {
        list.retain(|named| named["name"] == name);
    }
}

/// The maps in a list of named entries.
fn parts<'a>(
    kubeconfig: &'a mut Value,
    list: &str,
    part: &'static str,
) -> impl Iterator<Item = &'a mut Map<String, Value>> {
    let named = kubeconfig.get_mut(list).and_then(Value::as_array_mut).into_iter().flatten();
    named.filter_map(move |named| named.get_mut(part)?.as_object_mut())
}

/// Embeds the content of files.
fn embed(part: &mut Map<String, Value>, folder: &Path) -> Result<(), TargetError> {
    let read = |name: &Value| {
        let path = folder.join(name.as_str().unwrap_or_default());
        std::fs::read(&path).map_err(|source| file("read", &path.display().to_string(), source))
    };
    for (file, data) in FILES {
        if let Some(name) = part.remove(file)
            && !part.contains_key(data)
        {
            part.insert(data.to_owned(), STANDARD.encode(read(&name)?).into());
        }
    }
    if let Some(name) = part.remove("tokenFile") {
        part.insert("token".to_owned(), String::from_utf8_lossy(&read(&name)?).trim().into());
    }
    Ok(())
}

/// Replaces the address of a server on this machine's loopback address by one that the container reaches; the expected name in
/// its certificate stays.
async fn replace_loopback(
    cluster: &mut Map<String, Value>,
    network: &Network,
) -> Result<Option<Relay>, TargetError> {
    let Network::Separate { host, machine, .. } = network else { return Ok(None) };
    let server = cluster.get("server").and_then(Value::as_str).unwrap_or_default().to_owned();
    let Ok(uri) = server.parse::<Uri>() else { return Ok(None) };
    let Some(own) = uri.host().filter(|own| network::is_loopback(own)).map(str::to_owned) else {
        return Ok(None);
    };
    let not_routable = |reason: String| TargetError::NotRoutable { address: server.clone(), reason };
    let (there, relay) = match machine {
        HostAccess::Named => (network::with_host(&uri, MACHINE, uri.port_u16()), None),
        HostAccess::Routed => {
            let usual = if uri.scheme_str() == Some("http") { 80 } else { 443 };
            let to = format!("{own}:{}", uri.port_u16().unwrap_or(usual));
            let relay = Relay::open(host, to).await.map_err(|error| {
                not_routable(format!(
                    "{error}; set --kubeconfig to a cluster that containers of {host} can reach"
                ))
            })?;
            let address = relay.address();
            (network::with_host(&uri, &address.ip().to_string(), Some(address.port())), Some(relay))
        }
        HostAccess::Unreached => {
            let reason = "containers of a rootless engine cannot reach the loopback address of the machine; set --kubeconfig to a cluster on another \
                          machine, or use an engine that runs as root";
            return Err(not_routable(reason.to_owned()));
        }
    };
    cluster.insert("server".to_owned(), there.into());
    let name = own.trim_start_matches('[').trim_end_matches(']');
    cluster.entry("tls-server-name").or_insert_with(|| name.into());
    Ok(relay)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn apart(machine: HostAccess) -> Network {
        Network::Separate { host: "127.0.0.1".to_owned(), listens: "127.0.0.1".to_owned(), machine }
    }

    fn written(folder: &Path, server: &str) -> std::path::PathBuf {
        for (name, text) in [("ca.crt", "authority"), ("token", "word\n")] {
            std::fs::write(folder.join(name), text).unwrap();
        }
        let kubeconfig = json!({
            "apiVersion": "v1", "kind": "Config", "current-context": "a",
            "contexts": [{"name": "a", "context": {"cluster": "a", "user": "a"}}],
            "clusters": [
                {"name": "b", "cluster": {"server": "https://127.0.0.1:2", "certificate-authority": "gone"}},
                {"name": "a", "cluster": {"server": server, "certificate-authority": "ca.crt"}},
            ],
            "users": [
                {"name": "b", "user": {"client-key": "gone"}}, {"name": "a", "user": {"tokenFile": "token"}},
            ],
        });
        let path = folder.join("kubeconfig");
        // client-go ignores a second document, too.
        std::fs::write(&path, format!("{kubeconfig}\n---\n{{}}\n")).unwrap();
        path
    }

    async fn carried_to(server: &str, network: &Network) -> Result<(Value, Vec<Relay>), TargetError> {
        let folder = tempfile::tempdir().unwrap();
        let (text, relays) = for_container(&written(folder.path(), server), network).await?;
        Ok((serde_json::from_str(&text).unwrap(), relays))
    }

    #[tokio::test]
    async fn files_are_embedded_and_a_server_on_another_host_is_kept() {
        for (server, network) in [
            ("https://127.0.0.1:6443", Network::Shared),
            ("https://192.0.2.1:6443", apart(HostAccess::Routed)),
            ("https://192.0.2.1:6443", apart(HostAccess::Unreached)),
        ] {
            let (found, relays) = carried_to(server, &network).await.unwrap();
            let want = json!({"server": server, "certificate-authority-data": STANDARD.encode("authority")});
            assert_eq!(found["clusters"][0]["cluster"], want);
            assert_eq!(found["users"], json!([{"name": "a", "user": {"token": "word"}}]));
            assert_eq!(found["clusters"].as_array().map(Vec::len), Some(1));
            assert!(relays.is_empty());
        }
    }

    #[tokio::test]
    async fn a_server_on_loopback_gets_an_address_that_the_container_reaches() {
        let (found, _) = carried_to("https://localhost:6443", &apart(HostAccess::Named)).await.unwrap();
        let cluster = &found["clusters"][0]["cluster"];
        assert_eq!(cluster["server"], "https://host.docker.internal:6443");
        assert_eq!(cluster["tls-server-name"], "localhost");

        for (server, scheme, path) in [
            ("https://127.0.0.1:6443", "https", ""),
            ("https://127.0.0.1:6443/k8s/clusters/c", "https", "/k8s/clusters/c"),
            ("http://127.0.0.1:8001", "http", ""),
        ] {
            let (found, relays) = carried_to(server, &apart(HostAccess::Routed)).await.unwrap();
            let cluster = &found["clusters"][0]["cluster"];
            assert_eq!(cluster["server"], format!("{scheme}://{}{path}", relays[0].address()));
            assert_eq!(cluster["tls-server-name"], "127.0.0.1");
        }

        let refused =
            carried_to("https://127.0.0.1:6443", &apart(HostAccess::Unreached)).await.err().unwrap();
        let message =
            "failed to connect the container to https://127.0.0.1:6443: containers of a rootless engine";
        assert!(refused.to_string().starts_with(message), "{refused}");
    }

    #[tokio::test]
    async fn credentials_from_a_program_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("kubeconfig");
        let user = json!({"users": [{"name": "a", "user": {"exec": {"command": "login"}}}]});
        std::fs::write(&path, user.to_string()).unwrap();
        let refused = for_container(&path, &Network::Shared).await.err().unwrap().to_string();
        assert!(refused.ends_with("use a kubeconfig with a token or a certificate"), "{refused}");
    }
}
