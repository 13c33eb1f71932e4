//! The webhooks of this crate with one thing wrong, to see what the contract says of it:
//!
//! ```text
//! cargo run -p controlplane-webhooks --example misbehaving -- --misbehave CP-025 --port 9443 --cert-dir DIR --kubeconfig FILE
//! ```

mod rules;

use std::error::Error;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use clap::Parser;
use controlplane_webhooks::cluster;
use controlplane_webhooks::config::{ControlPlaneWebhooksConfiguration, file};
use controlplane_webhooks::webhooks::{controlplane, controlplanebackup, controlplaneexposure, paths};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use serde_json::json;
use tokio::net::TcpListener;
use webhook::answer::Answer;
use webhook::mutation;
use webhook::rejection::Rejection;
use webhook::review::AdmissionRequest;
use webhook::server::{self, CertificateFolder, Patience, TlsOptions};
use webhook::service::{self, Limits, Route, Webhook};

use rules::{RULES, Wrong};

#[derive(Parser)]
struct Arguments {
    /// Clause that is broken; without, nothing is.
    #[arg(long, value_name = "ID", value_parser = RULES.map(|(id, _)| id))]
    misbehave: Option<String>,
    /// Port on loopback.
    #[arg(long, default_value_t = 9443)]
    port: u16,
    /// Folder with `tls.crt` and `tls.key`.
    #[arg(long)]
    cert_dir: PathBuf,
    /// Kubeconfig of the seed whose Clusters are read.
    #[arg(long)]
    kubeconfig: PathBuf,
    /// Configuration; by default of a provider `local`.
    #[arg(long)]
    config: Option<PathBuf>,
}

struct Misbehaving {
    name: &'static str,
    config: Arc<ControlPlaneWebhooksConfiguration>,
    client: Client,
    wrong: Option<Wrong>,
}

#[async_trait]
impl Webhook for Misbehaving {
    async fn answer(&self, request: &AdmissionRequest<'_>) -> Answer {
        let needed = mutation::decode(request.object)
            .and_then(|object| controlplane::needs_cluster(&self.config, &object));
        let cluster = match needed {
            Ok(true) if self.name == controlplane::NAME => {
                cluster::read(&self.client, &request.namespace).await.map(Some)
            }
            Ok(_) => Ok(None),
            Err(rejection) => return rejection.into(),
        };
        let cluster = match cluster {
            Ok(cluster) => cluster,
            Err(error) => return Rejection::errored(422, error.to_string()).into(),
        };
        mutation::answer(request, |object| {
            match self.name {
                controlplane::NAME => controlplane::mutate(&self.config, cluster.as_ref(), object)?,
                controlplanebackup::NAME => controlplanebackup::mutate(&self.config, object)?,
                _ => controlplaneexposure::mutate(&self.config, object)?,
            }
            self.wrong.into_iter().for_each(|wrong| wrong.damage(object));
            Ok(())
        })
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments = Arguments::parse();
    let (config, _) = match &arguments.config {
        Some(file) => file::load(file, true)?,
        None => file::from_value(&json!({"provider": "local"}))?,
    };
    let config = Arc::new(config);
    let kubeconfig = Kubeconfig::read_from(&arguments.kubeconfig)?;
    let client =
        Client::try_from(Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await?)?;
    let wrong =
        RULES.iter().find(|(id, _)| Some(*id) == arguments.misbehave.as_deref()).map(|(_, wrong)| *wrong);
    let route = |(name, path)| {
        let webhook = Misbehaving { name, config: config.clone(), client: client.clone(), wrong };
        Route { name, path, webhook: Arc::new(webhook) }
    };
    let service = service::service(paths().into_iter().map(route).collect(), Limits::default());
    let certificates = CertificateFolder::open(&arguments.cert_dir)?;
    let tls = server::config(certificates.certificates(), TlsOptions::default())?;
    let listener = TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, arguments.port))).await?;
    let stopped = async { tokio::signal::ctrl_c().await.unwrap_or_default() };
    server::serve(listener, Some(tls), service, Patience::default(), stopped).await;
    Ok(())
}
