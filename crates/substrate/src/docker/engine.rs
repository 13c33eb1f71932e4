//! Properties of the Docker engine.

use serde_json::Value;

use super::{Docker, NoEngine};

/// The label of a private engine with the address of its published ports.
const ADDRESS: &str = "conformance.gardener.cloud/address=";

/// Properties that an engine reports.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Engine {
    /// `20.10.24`.
    pub version: String,
    /// The cgroup version, `1` or `2`; empty if unknown.
    pub cgroups: String,
    /// Memory of its machine, in bytes.
    pub memory: u64,
    /// The folder of its data.
    pub folder: String,
    /// The address of published ports of a private engine; absent for the machine's own engine.
    pub address: Option<String>,
    /// Whether it runs in a virtual machine of Docker Desktop.
    pub is_desktop: bool,
    /// Whether it runs without root, in a separate network.
    pub is_rootless: bool,
}

impl Docker {
    /// Reads the engine's properties.
    ///
    /// # Errors
    /// When no engine responds.
    pub async fn engine(&self) -> Result<Engine, NoEngine> {
        let output = self.query(&["info", "--format", "{{json .}}"], "run `docker info`").await;
        let output = output.map_err(|error| NoEngine { said: error.to_string() })?;
        let info: Value = serde_json::from_str(&output)
            .map_err(|error| NoEngine { said: format!("`docker info` printed no JSON: {error}") })?;
        // The client prints a result even without an engine.
        if info["ServerVersion"].as_str().unwrap_or_default().is_empty() {
            let errors: Vec<&str> =
                info["ServerErrors"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
            return Err(NoEngine { said: errors.join("; ") });
        }
        Ok(Engine::read(&info))
    }
}

impl Engine {
    pub(crate) fn read(info: &Value) -> Self {
        let text = |field: &str| info[field].as_str().unwrap_or_default().to_owned();
        let list = |field: &str| info[field].as_array().into_iter().flatten().filter_map(Value::as_str);
        Self {
            version: text("ServerVersion"),
            cgroups: text("CgroupVersion"),
            memory: info["MemTotal"].as_u64().unwrap_or_default(),
            folder: text("DockerRootDir"),
            address: list("Labels").find_map(|label| label.strip_prefix(ADDRESS)).map(str::to_owned),
            is_desktop: info["OperatingSystem"] == "Docker Desktop",
            is_rootless: list("SecurityOptions").any(|option| option == "name=rootless"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_label_of_the_engine_contains_the_address_of_its_ports() {
        let info = json!({
            "ServerVersion": "20.10.24", "CgroupVersion": "1", "MemTotal": 1024, "DockerRootDir": "/data",
            "Labels": ["other=1", "conformance.gardener.cloud/address=192.0.2.1"],
            "OperatingSystem": "Debian GNU/Linux 12 (bookworm)", "SecurityOptions": ["name=seccomp,profile=default"],
        });
        let want = Engine {
            version: "20.10.24".to_owned(),
            cgroups: "1".to_owned(),
            memory: 1024,
            folder: "/data".to_owned(),
            address: Some("192.0.2.1".to_owned()),
            is_desktop: false,
            is_rootless: false,
        };
        assert_eq!(Engine::read(&info), want);
        assert_eq!(Engine::read(&json!({"Labels": []})).address, None);
        assert!(Engine::read(&json!({"OperatingSystem": "Docker Desktop"})).is_desktop);
        assert!(Engine::read(&json!({"SecurityOptions": ["name=rootless"]})).is_rootless);
    }
}
