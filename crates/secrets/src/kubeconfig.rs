//! Kubeconfigs, in YAML as client-go writes them.

use formats::{base64, yaml};
use serde_json::{Map, Value, json};

use crate::request::{ControlPlaneContent, KubeconfigContent};

/// A kubeconfig with one context.
pub(crate) fn of_one_cluster(content: &KubeconfigContent) -> Result<String, serde_json::Error> {
    let scheme = if content.server.starts_with("https://") { "" } else { "https://" };
    let mut user = Map::new();
    for (field, value) in [("token", &content.token), ("tokenFile", &content.token_file)] {
        if !value.is_empty() {
            user.insert(field.to_owned(), json!(value));
        }
    }
    let name = &content.context;
    yaml::to_string(&config(
        name,
        &[cluster(name, &format!("{scheme}{}", content.server), &content.authorities)],
        &[context(name, name)],
        &[json!({ "name": name, "user": user })],
    ))
}

/// A kubeconfig with a client certificate (PEM) for all clusters; `None` without clusters.
pub(crate) fn of_control_plane(
    content: &ControlPlaneContent,
    certificate: Option<(&[u8], &[u8])>,
    authority: &[u8],
) -> Result<Option<String>, serde_json::Error> {
    let Some(first) = content.clusters.first() else { return Ok(None) };
    let user_name = if certificate.is_some() { first.name.as_str() } else { "" };
    let users: Vec<Value> = certificate
        .into_iter()
        .map(|(certificate, key)| {
            let data = json!({
                "client-certificate-data": base64::encode(certificate),
                "client-key-data": base64::encode(key),
            });
            json!({ "name": user_name, "user": data })
        })
        .collect();
    let (mut clusters, mut contexts) = (Vec::new(), Vec::new());
    for requested in &content.clusters {
        let own = requested.authorities.as_slice();
        let authorities = if own.is_empty() { authority } else { own };
        clusters.push(cluster(&requested.name, &format!("https://{}", requested.host), authorities));
        contexts.push(context(&requested.name, user_name));
    }
    yaml::to_string(&config(&first.name, &clusters, &contexts, &users)).map(Some)
}

fn cluster(name: &str, server: &str, authorities: &[u8]) -> Value {
    let mut cluster = json!({ "server": server });
    if !authorities.is_empty() {
        cluster["certificate-authority-data"] = base64::encode(authorities).into();
    }
    json!({ "name": name, "cluster": cluster })
}

fn context(name: &str, user: &str) -> Value {
    json!({ "name": name, "context": { "cluster": name, "user": user } })
}

fn config(current: &str, clusters: &[Value], contexts: &[Value], users: &[Value]) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Config",
        "preferences": {},
        "clusters": clusters,
        "contexts": contexts,
        "current-context": current,
        "users": users,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::KubeconfigCluster;

    #[test]
    fn the_user_s_token_is_read_from_a_file() {
        let content = KubeconfigContent {
            context: "garden".to_owned(),
            server: "virtual-garden-kube-apiserver".to_owned(),
            authorities: b"bundle".to_vec(),
            token: String::new(),
            token_file: "/token".to_owned(),
        };
        let text = of_one_cluster(&content).unwrap();
        let read: Value = yaml::from_str(&text).unwrap();
        let want = json!({
            "apiVersion": "v1", "kind": "Config", "preferences": {}, "current-context": "garden",
            "clusters": [{
                "name": "garden",
                "cluster": {
                    "server": "https://virtual-garden-kube-apiserver",
                    "certificate-authority-data": "YnVuZGxl",
                },
            }],
            "contexts": [{"name": "garden", "context": {"cluster": "garden", "user": "garden"}}],
            "users": [{"name": "garden", "user": {"tokenFile": "/token"}}],
        });
        assert_eq!(read, want);
    }

    #[test]
    fn clusters_share_one_certificate() {
        let named = |name: &str, authorities: &[u8]| KubeconfigCluster {
            name: name.to_owned(),
            host: format!("{name}.example.com"),
            authorities: authorities.to_vec(),
        };
        let clusters = vec![named("a", b""), named("b", b"own")];
        let content = ControlPlaneContent { certificate: None, clusters };
        let pair = (b"c".as_slice(), b"k".as_slice());
        let text = of_control_plane(&content, Some(pair), b"ca").unwrap().unwrap();
        let read: Value = yaml::from_str(&text).unwrap();
        assert_eq!(read["clusters"][0]["cluster"]["certificate-authority-data"], "Y2E=");
        assert_eq!(read["clusters"][1]["cluster"]["certificate-authority-data"], "b3du");
        assert_eq!(read["contexts"][1]["context"], json!({"cluster": "b", "user": "a"}));
        assert_eq!(read["users"].as_array().unwrap().len(), 1);
        let none = ControlPlaneContent::default();
        assert_eq!(of_control_plane(&none, None, b"ca").unwrap(), None);
    }
}
