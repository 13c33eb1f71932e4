//! The two Etcds of the virtual cluster: `main` for all objects but events, and `events`.
//!
//! [`requests`] says what the secrets manager must generate, then [`render`] what must be written; in a highly available Garden whose
//! certificate authorities are rotated, [`render_peer_authority`] comes before. The authorities come before.

mod object;
mod scaling;
mod schedule;
#[cfg(test)]
mod tests;

use std::time::Duration;

use api::operator::Garden;
use secrets::{
    AuthorityChoice, CertificateContent, CertificateKind, Content, GenerateOptions, SecretRequest, Signer,
};
use serde_json::json;

use super::NAMESPACE;
use super::error::RenderError;
use super::generated::{CA_ETCD, ETCD_CLIENT, RequestedSecret, service_names};
use super::lifecycle::{AwaitedState, Lifecycle, ObjectWait, RemovalStep};
use super::rendering::{DirectStep, ObjectName, Rendering};
use super::values::GardenValues;

/// Name of the request of the authority of members of an etcd cluster.
pub const CA_ETCD_PEER: &str = "ca-etcd-peer";
const HVPA: (&str, &str) = ("autoscaling.k8s.io/v1alpha1", "Hvpa");

/// Which Etcd.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EtcdRole {
    /// That of all objects but events.
    Main,
    /// That of events.
    Events,
}

impl EtcdRole {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Main, Self::Events];

    /// The name of the Etcd. OPC-054.
    #[must_use]
    pub fn etcd_name(self) -> &'static str {
        match self {
            Self::Main => "virtual-garden-etcd-main",
            Self::Events => "virtual-garden-etcd-events",
        }
    }

    /// The value of its label `role`.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Main => "main",
            Self::Events => "events",
        }
    }

    fn server_request(self) -> String {
        format!("etcd-server-{}", self.label())
    }

    fn peer_request(self) -> String {
        format!("etcd-peer-server-{}", self.label())
    }
}

/// What both Etcds need from the secrets manager.
#[must_use]
pub fn requests(garden: &Garden) -> Vec<RequestedSecret> {
    let control_plane = garden.spec.virtual_cluster.control_plane.as_ref();
    let is_highly_available = control_plane.is_some_and(|of| of.high_availability.is_some());
    let mut requested = Vec::new();
    for role in EtcdRole::ALL {
        requested.push(server(role));
        if role == EtcdRole::Main {
            requested.push(client());
        }
        if is_highly_available {
            requested.push(peer(role));
        }
    }
    requested
}

/// What must be written. OPC-054 to -065, OPC-067.
///
/// # Errors
/// If the maintenance window is none, a quantity or a Secret is missing.
pub fn render(values: &GardenValues<'_>) -> Result<Rendering, RenderError> {
    let mut steps = Vec::new();
    for role in EtcdRole::ALL {
        steps.push(DirectStep::Patch(object::etcd(values, role)?));
        let name = role.etcd_name();
        steps.push(if values.has_hvpa() {
            DirectStep::Patch(scaling::hvpa(values, role))
        } else {
            DirectStep::Delete(ObjectName::in_garden(HVPA.0, HVPA.1, name))
        });
    }
    Ok(Rendering { steps, ..Rendering::default() })
}

/// What must be written, and waited for, before [`render`] while the rotation of certificate authorities is prepared: members trust the
/// new authority before they get certificates of it. Nothing for Etcds of one member, or that trust it already. OPC-066.
///
/// # Errors
/// If the authority was not generated.
pub fn render_peer_authority(values: &GardenValues<'_>) -> Result<Rendering, RenderError> {
    if !values.is_highly_available() {
        return Ok(Rendering::default());
    }
    let authority = values.secrets.name(CA_ETCD_PEER)?;
    // The original makes an Etcd of this one field where there is none.
    let outdated = EtcdRole::ALL.into_iter().filter(|role| {
        let existing = object::existing(values, *role);
        let trusted = existing.map(|etcd| &etcd["spec"]["etcd"]["peerUrlTls"]["tlsCASecretRef"]["name"]);
        trusted.is_some_and(|name| name != authority)
    });
    let steps = outdated.map(|role| {
        let reference = json!({ "name": authority, "namespace": NAMESPACE });
        DirectStep::Patch(json!({
            "apiVersion": api::druid::API_VERSION,
            "kind": "Etcd",
            "metadata": {
                "name": role.etcd_name(),
                "namespace": NAMESPACE,
                "annotations": object::annotations(values),
            },
            "spec": { "etcd": { "peerUrlTls": { "tlsCASecretRef": reference } } },
        }))
    });
    Ok(Rendering { steps: steps.collect(), ..Rendering::default() })
}

/// Both must be ready. They are only deleted after a confirmation; nobody waits until they are gone, but etcd-druid stays as long as
/// they are there. OPC-064, OPC-065.
#[must_use]
pub fn lifecycle() -> Lifecycle {
    let object = |role: EtcdRole| ObjectName::in_garden(api::druid::API_VERSION, "Etcd", role.etcd_name());
    let ready =
        |role| ObjectWait::every_five_seconds(object(role), AwaitedState::EtcdReady, Duration::from_mins(5));
    let removal = EtcdRole::ALL.into_iter().flat_map(|role| {
        [
            RemovalStep::Confirm(object(role)),
            RemovalStep::object(HVPA.0, HVPA.1, role.etcd_name()),
            RemovalStep::Object(object(role)),
        ]
    });
    Lifecycle { ready: EtcdRole::ALL.map(ready).into(), removal: removal.collect(), ..Lifecycle::default() }
}

fn server(role: EtcdRole) -> RequestedSecret {
    let etcd = role.etcd_name();
    let names = [
        vec![format!("{etcd}-local")],
        service_names(&format!("{etcd}-client"), NAMESPACE),
        service_names(&format!("*.{etcd}-peer"), NAMESPACE),
    ];
    both_ends(&role.server_request(), names.concat(), Signer::new(CA_ETCD))
}

fn peer(role: EtcdRole) -> RequestedSecret {
    let service = format!("{}-peer", role.etcd_name());
    let names = [service_names(&service, NAMESPACE), service_names(&format!("*.{service}"), NAMESPACE)];
    let signer = Signer::new(CA_ETCD_PEER).choosing(AuthorityChoice::Current);
    both_ends(&role.peer_request(), names.concat(), signer)
}

/// A certificate of a member, which connects to others and is connected to.
fn both_ends(name: &str, dns_names: Vec<String>, signer: Signer) -> RequestedSecret {
    let content = CertificateContent {
        common_name: "etcd-server".to_owned(),
        dns_names,
        without_authority: true,
        ..CertificateContent::new(CertificateKind::ServerAndClient)
    };
    signed(name, content, signer)
}

fn client() -> RequestedSecret {
    let content = CertificateContent {
        common_name: ETCD_CLIENT.to_owned(),
        without_authority: true,
        ..CertificateContent::new(CertificateKind::Client)
    };
    signed(ETCD_CLIENT, content, Signer::new(CA_ETCD))
}

fn signed(name: &str, content: CertificateContent, signer: Signer) -> RequestedSecret {
    RequestedSecret {
        request: SecretRequest::new(name, Content::Certificate(content)),
        options: GenerateOptions { signer: Some(signer), ..GenerateOptions::default() },
    }
}
