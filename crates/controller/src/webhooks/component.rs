//! A component that consists of webhooks only: its flags, which are those of Gardener's extensions, and its process.

use std::str::FromStr;

use kube::Client;
use webhook::service::WebhookService;

use crate::clock::Clock;
use crate::command::Program;
use crate::config::{Server, Warning};
use crate::manager::{Connection, Manager, ManagerError, Parts, WebhookServer};
use crate::probes::Probes;
use crate::{log, remote};

/// The flags.
#[derive(Clone, Debug, clap::Args)]
pub struct Flags {
    /// Kubeconfig of the cluster that is read; by default the one that the process runs in.
    #[arg(long, env = "KUBECONFIG", value_name = "FILE")]
    kubeconfig: Option<String>,

    /// Address that webhooks are served at; by default all.
    #[arg(long, value_name = "HOST", default_value = "", hide_default_value = true)]
    webhook_config_server_host: String,

    /// Port that webhooks are served at.
    #[arg(long, value_name = "PORT", default_value_t = 10250)]
    webhook_config_server_port: u16,

    /// Folder with `tls.crt` and `tls.key`, which are read again when they change; by default
    /// `k8s-webhook-server/serving-certs` in the folder for temporary files.
    #[arg(long, value_name = "DIR", default_value = "", hide_default_value = true)]
    webhook_config_cert_dir: String,

    /// Where `/healthz` and `/readyz` are served; 0: nowhere.
    #[arg(long, value_name = "[HOST]:PORT", default_value = ":8081")]
    health_bind_address: Address,

    /// Where `/metrics` is served; 0: nowhere.
    #[arg(long, value_name = "[HOST]:PORT", default_value = ":8080")]
    metrics_bind_address: Address,

    /// debug, info or error.
    #[arg(long, default_value = "info")]
    log_level: log::Level,

    /// json or text.
    #[arg(long, default_value = "json")]
    log_format: log::Format,
}

/// The address of a server in controller-runtime's form: `:8080`, `127.0.0.1:8080`, `[::1]:8080`; `0`: none.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Address(Option<(String, u16)>);

/// The address is invalid.
#[derive(Debug, thiserror::Error)]
#[error("use [HOST]:PORT with a port between 0 and 65535, or 0 for none")]
struct AddressError;

impl Address {
    fn server(&self) -> Option<Server> {
        let (bind_address, port) = self.0.clone()?;
        Some(Server { bind_address, port: port.into() })
    }
}

impl FromStr for Address {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Self, AddressError> {
        if text == "0" {
            return Ok(Self(None));
        }
        let (host, port) = text.rsplit_once(':').ok_or(AddressError)?;
        let is_bracketed = host.starts_with('[') && host.ends_with(']');
        if host.contains(':') && !is_bracketed {
            return Err(AddressError);
        }
        let port = port.parse().map_err(|_| AddressError)?;
        Ok(Self(Some((host.to_owned(), port))))
    }
}

/// The name of a component and its cluster.
#[derive(Clone, Copy, Debug)]
pub struct Component {
    /// Name and version.
    pub program: Program,
    /// The name of the cluster that it reads: `garden`, `seed`.
    pub cluster: &'static str,
}

impl Component {
    /// Serves webhooks, built with a client of the cluster, until a signal; logs the `warnings` about its
    /// configuration.
    ///
    /// # Errors
    /// Why it could not start, or the failure that ended it.
    pub fn run(
        self,
        flags: &Flags,
        warnings: &[Warning],
        build: impl FnOnce(Client, Clock) -> WebhookService,
    ) -> Result<(), ManagerError> {
        let kubeconfig = flags.kubeconfig.clone().unwrap_or_default();
        let manager = Manager {
            program: self.program,
            log: (flags.log_level, flags.log_format),
            cluster: Connection { name: self.cluster, kubeconfig, limit: None },
            target: None,
            leader_election: None,
            webhooks: Some(WebhookServer {
                bind_address: flags.webhook_config_server_host.clone(),
                port: flags.webhook_config_server_port.into(),
                certificates: flags.webhook_config_cert_dir.clone(),
            }),
            probes: flags.health_bind_address.server(),
            metrics: flags.metrics_bind_address.server(),
        };
        manager.run(warnings, |process| Parts {
            webhooks: Some(build(process.client, process.clock)),
            probes: Probes::new()
                .health("apiserver-healthz", move || remote::healthy(process.unlimited.clone())),
            controllers: None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_those_of_controller_runtime() {
        let table = [
            (":8080", Some(("", 8080))),
            ("127.0.0.1:0", Some(("127.0.0.1", 0))),
            ("[::1]:443", Some(("[::1]", 443))),
            ("0", None),
        ];
        for (text, want) in table {
            let want = want.map(|(host, port)| (host.to_owned(), port));
            assert_eq!(text.parse::<Address>().expect("it is one"), Address(want), "{text}");
        }
        for text in ["", "8080", ":80800", "::1:443", "host:http"] {
            assert!(text.parse::<Address>().is_err(), "{text}");
        }
    }
}
