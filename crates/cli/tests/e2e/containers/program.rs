//! How the program of a component is started in a container: its `process.yaml` with ports, paths and files filled in.

use std::collections::BTreeMap;
use std::net::TcpListener;

use component::Component;
use serde_json::{Map, Value};
use testcontainers::core::IntoContainerPort as _;
use testcontainers::{ContainerAsync, ContainerRequest, GenericImage, ImageExt as _};

use super::network::Network;

/// Files of the container.
pub(super) const CONFIG: &str = "/test/config.yaml";
const KUBECONFIG: &str = "/test/kubeconfig";
const CERTIFICATES: &str = "/test/certificates";

/// A program with its ports and files.
pub(super) struct Program {
    image: String,
    process: Value,
    /// The values of `<port>` and so on.
    ports: BTreeMap<&'static str, u16>,
    /// Whether the engine publishes the ports, as others of its own choice.
    is_published: bool,
    listens: &'static str,
    kubeconfig: String,
}

impl Program {
    /// The program of a component, which reads this kubeconfig.
    pub(super) fn of(component: &Component, network: &Network, kubeconfig: String) -> Result<Self, String> {
        let text = component.process.ok_or("the component does not say how its program is started")?;
        let process = formats::yaml::first_document(text.as_bytes()).map_err(|error| error.to_string())?;
        let ports = free_ports().map_err(|error| error.to_string())?;
        let [port, health, metrics] = ports;
        let ports = BTreeMap::from([("<port>", port), ("<healthPort>", health), ("<metricsPort>", metrics)]);
        let (image, is_published, listens) = (component.image(), !network.is_shared(), network.listens());
        Ok(Self { image, process, ports, is_published, listens, kubeconfig })
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

    /// The address at which this machine reaches the readiness probe of its container.
    pub(super) async fn ready(
        &self,
        network: &Network,
        container: &ContainerAsync<GenericImage>,
    ) -> Result<String, String> {
        let address = self.process["ready"].as_str().unwrap_or_default();
        let mut address = address.replace("127.0.0.1", &network.host().to_string());
        for (name, port) in &self.ports {
            let reached = if self.is_published {
                container.get_host_port_ipv4(port.tcp()).await.map_err(|error| error.to_string())?
            } else {
                *port
            };
            address = address.replace(name, &reached.to_string());
        }
        Ok(address)
    }

    /// A container of its image with this configuration file.
    pub(super) fn container(&self, config: String) -> Result<ContainerRequest<GenericImage>, String> {
        let command = self.process["command"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let command: Vec<String> = command.map(|argument| self.fill(argument)).collect();
        let certificate = rcgen::generate_simple_self_signed(["localhost".to_owned()]);
        let certificate = certificate.map_err(|error| error.to_string())?;
        let file = |name: &str| format!("{CERTIFICATES}/{name}");
        let mut image = GenericImage::new(self.image.as_str(), "local");
        for port in self.ports.values().filter(|_| self.is_published) {
            image = image.with_exposed_port(port.tcp());
        }
        let mut container = image
            .with_cmd(command)
            .with_copy_to(CONFIG, config.into_bytes())
            .with_copy_to(KUBECONFIG, self.kubeconfig.clone().into_bytes())
            .with_copy_to(file("tls.crt"), certificate.cert.pem().into_bytes())
            .with_copy_to(file("tls.key"), certificate.signing_key.serialize_pem().into_bytes());
        for (name, value) in self.process["env"].as_object().into_iter().flatten() {
            container = container.with_env_var(name, self.fill(value.as_str().unwrap_or_default()));
        }
        Ok(if self.is_published { container } else { container.with_network("host") })
    }

    fn fill(&self, text: &str) -> String {
        let paths = [("<config>", CONFIG), ("<sourceKubeconfig>", KUBECONFIG), ("<certDir>", CERTIFICATES)];
        let filled = paths.iter().fold(text.to_owned(), |text, (name, path)| text.replace(name, path));
        let ports = self.ports.iter();
        let filled = ports.fold(filled, |text, (name, port)| text.replace(name, &port.to_string()));
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

/// Three ports of this machine that were free a moment ago.
fn free_ports() -> std::io::Result<[u16; 3]> {
    let listeners = [
        TcpListener::bind("127.0.0.1:0")?,
        TcpListener::bind("127.0.0.1:0")?,
        TcpListener::bind("127.0.0.1:0")?,
    ];
    let port = |listener: &TcpListener| listener.local_addr().map(|address| address.port());
    let [first, second, third] = &listeners;
    Ok([port(first)?, port(second)?, port(third)?])
}
