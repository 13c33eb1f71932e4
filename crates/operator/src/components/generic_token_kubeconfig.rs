//! The kubeconfig for the virtual cluster that all Pods of its control plane share: each brings a token of its own.
//!
//! [`requests`] needs the bundle of the virtual cluster's authority. The name of the Secret is in an annotation of the Garden, where
//! other programs look it up.

use secrets::request::KubeconfigContent;
use secrets::{Content, GenerateOptions, RotationStrategy, SecretRequest};

use super::NAMESPACE;
use super::access::TOKEN_FILE;
use super::error::RenderError;
use super::generated::{CA, GENERIC_TOKEN_KUBECONFIG, GeneratedSecrets, RequestedSecret};
use super::lifecycle::{Lifecycle, RemovalStep};
use super::networks::VIRTUAL_API_SERVER;
use super::rendering::{DirectStep, ObjectAnnotation, ObjectName, Rendering};
use super::values::GardenValues;

/// The annotation of the Garden.
const SECRET_NAME: &str = "generic-token-kubeconfig.secret.gardener.cloud/name";

/// The kubeconfig. The Secret before the last rotation is kept, so that others have time to change. OPC-016.
///
/// # Errors
/// If the authority of the virtual cluster was not generated.
pub fn requests(secrets: &GeneratedSecrets) -> Result<Vec<RequestedSecret>, RenderError> {
    let kubeconfig = KubeconfigContent {
        context: NAMESPACE.to_owned(),
        server: VIRTUAL_API_SERVER.to_owned(),
        authorities: secrets.bundle_pem(CA)?.to_owned(),
        token: String::new(),
        token_file: TOKEN_FILE.to_owned(),
    };
    Ok(vec![RequestedSecret {
        request: SecretRequest::new(GENERIC_TOKEN_KUBECONFIG, Content::Kubeconfig(kubeconfig)),
        options: GenerateOptions { rotation: RotationStrategy::KeepOld, ..GenerateOptions::default() },
    }])
}

/// Names the Secret in use in the Garden. OPC-017.
///
/// # Errors
/// If the kubeconfig was not generated.
pub fn render(values: &GardenValues<'_>) -> Result<Rendering, RenderError> {
    let garden = values.garden.metadata.name.clone().unwrap_or_default();
    let annotation = ObjectAnnotation {
        object: ObjectName::in_cluster(api::operator::API_VERSION, "Garden", &garden),
        key: SECRET_NAME,
        value: values.secrets.all(GENERIC_TOKEN_KUBECONFIG)?.current.name.clone(),
    };
    Ok(Rendering { steps: vec![DirectStep::Annotate(annotation)], ..Rendering::default() })
}

/// The Secret in use is deleted when nothing needs it any more, if this run has requested it.
#[must_use]
pub fn lifecycle() -> Lifecycle {
    let removal = vec![RemovalStep::Generated(GENERIC_TOKEN_KUBECONFIG.to_owned())];
    Lifecycle { removal, ..Lifecycle::default() }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::components::fixture::Fixture;

    #[test]
    fn the_kubeconfig_has_the_token_in_a_file() {
        let kubeconfig = KubeconfigContent {
            context: "garden".to_owned(),
            server: "virtual-garden-kube-apiserver".to_owned(),
            authorities: b"ca bundle".to_vec(),
            token: String::new(),
            token_file: "/var/run/secrets/gardener.cloud/shoot/generic-kubeconfig/token".to_owned(),
        };
        let want = RequestedSecret {
            request: SecretRequest::new("generic-token-kubeconfig", Content::Kubeconfig(kubeconfig)),
            options: GenerateOptions { rotation: RotationStrategy::KeepOld, ..GenerateOptions::default() },
        };
        assert_eq!(requests(&Fixture::default().secrets).unwrap(), [want]);
        let error = requests(&GeneratedSecrets::default()).unwrap_err().to_string();
        assert_eq!(error, r#"secret "ca" not found"#);
    }

    #[test]
    fn the_garden_names_the_secret_in_use() {
        let fixture = Fixture::with(&json!({"metadata": {"name": "mine"}}));
        let want = ObjectAnnotation {
            object: ObjectName {
                api_version: "operator.gardener.cloud/v1alpha1".to_owned(),
                kind: "Garden".to_owned(),
                namespace: String::new(),
                name: "mine".to_owned(),
            },
            key: "generic-token-kubeconfig.secret.gardener.cloud/name",
            value: "generic-token-kubeconfig-current".to_owned(),
        };
        let rendering = render(&fixture.values()).unwrap();
        assert_eq!(rendering.steps, [DirectStep::Annotate(want)]);
        assert!(rendering.managed.is_empty());
    }
}
