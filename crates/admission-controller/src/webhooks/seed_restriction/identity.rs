//! Objects by which a client proves who it is, and Leases.

use formats::x509::CertificateRequest;
use k8s_openapi::api::certificates::v1::CertificateSigningRequest;
use k8s_openapi::api::rbac::v1::ClusterRoleBinding;
use webhook::rejection::Rejection;

use super::{Restricted, forbidden};
use crate::bootstrapping::{BINDING_PREFIX, BOOTSTRAPPER, SERVICE_ACCOUNT_PREFIX, managed_seed_of_binding};
use crate::graph::{LEASE_NAMESPACE, check_seed_client};
use crate::seed_identity::identify;

/// The Lease of gardenlets that elect a leader.
pub(crate) const LEADER_ELECTION: &str = "gardenlet-leader-election";

impl Restricted<'_> {
    /// A gardenlet requests certificates for its own seed alone. ADM-SRE-011.
    pub(super) fn certificate_signing_request(&self) -> Result<(), Rejection> {
        self.only_create()?;
        self.no_extension("CertificateSigningRequests")?;
        let csr: CertificateSigningRequest = self.object()?;
        let request = CertificateRequest::from_pem(&csr.spec.request.0);
        let request = request.map_err(|error| Rejection::errored(400, error.to_string()))?;
        check_seed_client(&request, csr.spec.usages.as_deref().unwrap_or_default())
            .map_err(|why| forbidden(format!("can only create CSRs for seed clusters: {why}")))?;
        let client = identify(&request.subject.common_name, &request.subject.organizations);
        self.check_seed([Some(client.map(|client| client.seed).unwrap_or_default().as_str())])
    }

    /// A gardenlet binds the role of those without credentials, for gardenlets that it deploys. ADM-SRE-012.
    pub(super) fn cluster_role_binding(&self) -> Result<(), Rejection> {
        self.only_create()?;
        self.no_extension("ClusterRoleBindings")?;
        if !self.request.name.starts_with(BINDING_PREFIX) {
            return Err(self.foreign());
        }
        let binding: ClusterRoleBinding = self.object()?;
        let role = &binding.role_ref;
        let found = (role.api_group.as_deref().unwrap_or_default(), role.kind.as_str(), role.name.as_str());
        if found != (crate::config::RBAC_GROUP, "ClusterRole", BOOTSTRAPPER) {
            return Err(forbidden("can only bindings referring to the bootstrapper role"));
        }
        let (namespace, name) = managed_seed_of_binding(&self.request.name);
        self.bootstrap(namespace, name)
    }

    /// A gardenlet has a Lease with the name of its seed and one for its election, an extension those in the namespace
    /// of the seed. ADM-SRE-014, ADM-SRE-015.
    pub(super) fn lease(&self) -> Result<(), Rejection> {
        self.only_create()?;
        if self.client.is_extension() {
            if self.request.namespace == self.client.namespace() {
                return Ok(());
            }
            let seed = webhook::field::quote(&self.client.seed);
            return Err(forbidden(format!(
                "extension client can only create leases in the namespace for seed {seed}"
            )));
        }
        if self.request.name == LEADER_ELECTION {
            return Ok(());
        }
        if self.request.namespace == LEASE_NAMESPACE {
            return self.check_seed([Some(self.request.name.as_str())]);
        }
        Err(self.foreign())
    }

    /// A gardenlet creates ServiceAccounts for gardenlets that it deploys, and in the namespace of its seed.
    /// ADM-SRE-020.
    pub(super) fn service_account(&self) -> Result<(), Rejection> {
        self.only_create()?;
        self.no_extension("ServiceAccounts")?;
        if let Some(name) = self.request.name.strip_prefix(SERVICE_ACCOUNT_PREFIX) {
            return self.bootstrap(&self.request.namespace, name);
        }
        if self.request.namespace == self.client.namespace() { Ok(()) } else { Err(self.foreign()) }
    }
}
