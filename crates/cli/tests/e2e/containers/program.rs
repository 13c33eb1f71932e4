//! How the program of a component is started in a container: its `process.yaml` with ports, paths and files filled in.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU16, Ordering};

use component::Component;
use serde_json::{Map, Value};
use testcontainers::{ContainerRequest, GenericImage, ImageExt as _};

use super::network::Network;

/// Files of the container.
pub(super) const CONFIG: &str = "/test/config.yaml";
const KUBECONFIG: &str = "/test/kubeconfig";
const CERTIFICATES: &str = "/test/certificates";
/// The first of the ports on which programs listen.
const FIRST_PORT: u16 = 20_000;

/// A program with its ports and files.
pub(super) struct Program {
    image: String,
    process: Value,
    /// The values of `<port>`, `<config>` and so on.
    values: BTreeMap<&'static str, String>,
    listens: &'static str,
    kubeconfig: String,
}

impl Program {
    /// The program of a component, which reads this kubeconfig.
    pub(super) fn of(component: &Component, network: &Network, kubeconfig: String) -> Result<Self, String> {
        let text = component.process.ok_or("the component does not say how its program is started")?;
        let process = formats::yaml::first_document(text.as_bytes()).map_err(|error| error.to_string())?;
        let [port, health, metrics] = own_ports();
        let values = BTreeMap::from([
            ("<port>", port.to_string()),
            ("<healthPort>", health.to_string()),
            ("<metricsPort>", metrics.to_string()),
            ("<config>", CONFIG.to_owned()),
            ("<sourceKubeconfig>", KUBECONFIG.to_owned()),
            ("<certDir>", CERTIFICATES.to_owned()),
        ]);
        let (image, listens) = (component.image(), network.listens());
        Ok(Self { image, process, values, listens, kubeconfig })
    }

    /// Its configuration file; what the component requires beside its ports is in `required`.
    pub(super) fn config(&self, required: Map<String, Value>) -> String {
        let mut config = Value::Object(required);
        for (path, value) in self.process["config"]["set"].as_object().into_iter().flatten() {
            let field = path.split('.').fold(&mut config, |value, name| &mut value[name]);
            *field = match value.as_str() {
                Some(text) => self.typed(text),
                None => value.clone(),
            };
        }
        config.to_string()
    }

    /// The address of its readiness probe.
    pub(super) fn ready(&self, network: &Network) -> String {
        let address = self.process["ready"].as_str().unwrap_or_default();
        self.fill(address).replace(self.listens, &network.host().to_string())
    }

    /// A container of its image with this configuration file, in the network of the engine: the engine publishes no ports, which
    /// fails if a connection has one of them.
    pub(super) fn container(&self, config: String) -> Result<ContainerRequest<GenericImage>, String> {
        let command = self.process["command"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let command: Vec<String> = command.map(|argument| self.fill(argument)).collect();
        let certificate = rcgen::generate_simple_self_signed(["localhost".to_owned()]);
        let certificate = certificate.map_err(|error| error.to_string())?;
        let file = |name: &str| format!("{CERTIFICATES}/{name}");
        let mut container = GenericImage::new(self.image.as_str(), "local")
            .with_cmd(command)
            .with_network("host")
            .with_copy_to(CONFIG, config.into_bytes())
            .with_copy_to(KUBECONFIG, self.kubeconfig.clone().into_bytes())
            .with_copy_to(file("tls.crt"), certificate.cert.pem().into_bytes())
            .with_copy_to(file("tls.key"), certificate.signing_key.serialize_pem().into_bytes());
        for (name, value) in self.process["env"].as_object().into_iter().flatten() {
            container = container.with_env_var(name, self.fill(value.as_str().unwrap_or_default()));
        }
        Ok(container)
    }

    fn fill(&self, text: &str) -> String {
        let filled =
            self.values.iter().fold(text.to_owned(), |text, (name, value)| text.replace(name, value));
        filled.replace("127.0.0.1", self.listens)
    }

    /// A value of a configuration file, where a port is a number.
    fn typed(&self, text: &str) -> Value {
        let filled = self.fill(text);
        match filled.parse::<u16>() {
            Ok(port) if text != filled => port.into(),
            _ => filled.into(),
        }
    }
}

/// Three ports that no other container of this process has, below those that systems give to connections.
fn own_ports() -> [u16; 3] {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    // Tests of two processes seldom have the same.
    let of_process = u16::try_from(std::process::id() % 100).unwrap_or_default() * 100;
    let first = FIRST_PORT + of_process + NEXT.fetch_add(3, Ordering::Relaxed);
    [first, first + 1, first + 2]
}
