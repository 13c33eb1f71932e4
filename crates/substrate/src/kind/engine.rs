//! The Docker engine as its client tells of it.

use serde_json::Value;

use super::KindError;
use super::command::{self, QUICK};
use super::programs::Programs;

/// The label of a private engine that tells where its published ports are.
const ADDRESS: &str = "conformance.gardener.cloud/address=";
/// How `make kind-node` names images.
const ASSEMBLED: &str = "gardener-conformance/kind-node";

/// What an engine says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Engine {
    /// `20.10.24`.
    pub version: String,
    /// `1` or `2`; empty where it does not say.
    pub cgroups: String,
    /// Bytes of memory of its machine.
    pub memory: u64,
    /// Where its data lie.
    pub folder: String,
    /// Where published ports are, if not on loopback.
    pub address: Option<String>,
}

impl Engine {
    /// Asks it.
    ///
    /// # Errors
    /// When none answers.
    pub async fn ask(programs: &Programs) -> Result<Self, KindError> {
        let asked = command::run(&programs.docker, &["info", "--format", "{{json .}}"], "ask Docker", QUICK);
        let said = asked.await.map_err(|error| KindError::NoEngine { said: error.to_string() })?;
        let info: Value = serde_json::from_str(&said).unwrap_or_default();
        // The client answers without an engine, too.
        if info["ServerVersion"].as_str().unwrap_or_default().is_empty() {
            let errors: Vec<&str> =
                info["ServerErrors"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
            return Err(KindError::NoEngine { said: errors.join("; ") });
        }
        Ok(Self::read(&info))
    }

    pub(super) fn read(info: &Value) -> Self {
        let text = |field: &str| info[field].as_str().unwrap_or_default().to_owned();
        let mut labels = info["Labels"].as_array().into_iter().flatten().filter_map(Value::as_str);
        Self {
            version: text("ServerVersion"),
            cgroups: text("CgroupVersion"),
            memory: info["MemTotal"].as_u64().unwrap_or_default(),
            folder: text("DockerRootDir"),
            address: labels.find_map(|label| label.strip_prefix(ADDRESS)).map(str::to_owned),
        }
    }
}

/// The node image: the chosen one, which is pulled if it is not there, else the one that was assembled last.
///
/// # Errors
/// When there is none.
pub async fn node_image(programs: &Programs, chosen: Option<&str>) -> Result<String, KindError> {
    let docker = |arguments: &'static [&'static str], step: &'static str| {
        command::run(&programs.docker, arguments, step, QUICK)
    };
    let Some(image) = chosen else {
        let listed =
            docker(&["images", "--format", "{{.Repository}}:{{.Tag}}", ASSEMBLED], "list images").await?;
        // The youngest comes first.
        return listed.lines().next().map(str::to_owned).ok_or(KindError::NoImage);
    };
    let inspect = ["image", "inspect", "--format", "{{.Id}}", image];
    if command::run(&programs.docker, &inspect, "look for the image", QUICK).await.is_ok() {
        return Ok(image.to_owned());
    }
    let pulled = command::run(&programs.docker, &["pull", "--quiet", image], "pull it", command::LONG).await;
    pulled.map_err(|error| KindError::Image { image: image.to_owned(), said: error.to_string() })?;
    Ok(image.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_engine_says_where_its_ports_are_by_a_label() {
        let info = json!({
            "ServerVersion": "20.10.24", "CgroupVersion": "1", "MemTotal": 1024, "DockerRootDir": "/data",
            "Labels": ["other=1", "conformance.gardener.cloud/address=192.0.2.1"],
        });
        let want = Engine {
            version: "20.10.24".to_owned(),
            cgroups: "1".to_owned(),
            memory: 1024,
            folder: "/data".to_owned(),
            address: Some("192.0.2.1".to_owned()),
        };
        assert_eq!(Engine::read(&info), want);
        assert_eq!(Engine::read(&json!({"Labels": []})).address, None);
    }
}
