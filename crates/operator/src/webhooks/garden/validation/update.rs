//! What may change of a virtual cluster.

use api::operator::virtual_cluster::{VirtualCluster, VirtualControlPlane};
use versions::Refusal;
use webhook::field::{Error, ErrorKind, Path, Shown};

use super::FieldErrors;

const IMMUTABLE: &str = "field is immutable";

/// The first domain and high availability stay, and the version increases by one minor at most. OPR-UPD-001 to -004.
pub(super) fn errors(old: &VirtualCluster, new: &VirtualCluster) -> FieldErrors {
    let at = Path::new("spec").child("virtualCluster");
    let mut errors = Vec::new();
    if let (Some(before), Some(after)) = (old.dns.domains.first(), new.dns.domains.first())
        && before != after
    {
        let domain = at.child("dns").child("domains").index(0);
        errors.push(Error::invalid(&domain, after, IMMUTABLE));
    }
    if is_highly_available(old) && !is_highly_available(new) {
        let field = at.child("controlPlane").child("highAvailability");
        errors.push(Error::invalid(&field, shown(new.control_plane.as_ref()), IMMUTABLE));
    }
    let version = at.child("kubernetes").child("version");
    let refusals = versions::update::refusals(&new.kubernetes.version, &old.kubernetes.version);
    errors.extend(refusals.into_iter().map(|refusal| field_error(&version, refusal)));
    errors
}

fn is_highly_available(cluster: &VirtualCluster) -> bool {
    cluster.control_plane.as_ref().is_some_and(|of| of.high_availability.is_some())
}

/// A control plane that is not highly available, as Go prints it.
fn shown(control_plane: Option<&VirtualControlPlane>) -> Shown {
    match control_plane {
        None => Shown::from("null"),
        Some(_) => {
            Shown::verbatim("v1alpha1.ControlPlane{HighAvailability:(*v1alpha1.HighAvailability)(nil)}")
        }
    }
}

fn field_error(at: &Path, refusal: Refusal) -> Error {
    match refusal {
        Refusal::Invalid { shown, detail } => Error {
            kind: ErrorKind::Invalid,
            field: at.to_string(),
            value: Some(Shown::verbatim(shown)),
            detail,
        },
        Refusal::Forbidden { detail } => Error::forbidden(at, &detail),
        Refusal::NotSupported { value, supported } => {
            let supported: Vec<&str> = supported.iter().map(String::as_str).collect();
            Error::not_supported(at, &value, &supported)
        }
    }
}
