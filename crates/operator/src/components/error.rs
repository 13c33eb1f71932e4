//! Why a component cannot be rendered.

use formats::version::VersionError;
use versions::window::WindowError;

use super::NAMESPACE;
use super::image_vector::ImageVectorError;

/// Why a component cannot be rendered. Messages that a user meets in the status of a Garden are the original's.
#[derive(Debug, thiserror::Error)]
pub enum RenderError {
    /// The secrets manager was not asked for a Secret before.
    #[error("secret {0:?} not found")]
    UnknownSecret(String),
    /// There is no image.
    #[error(transparent)]
    Image(#[from] ImageVectorError),
    /// The program does not come with this CustomResourceDefinition.
    #[error("CustomResourceDefinition {0:?} not found")]
    UnknownDefinition(&'static str),
    /// Two objects of a ManagedResource have the same key.
    #[error("duplicate filename in registry: {0:?}")]
    DuplicateKey(String),
    /// A value has no YAML form.
    #[error("failed to write {what} as YAML")]
    Yaml {
        /// The object or file.
        what: String,
        /// The reason.
        #[source]
        source: serde_json::Error,
    },
    /// The version of the virtual cluster is none.
    #[error("failed to parse spec.virtualCluster.kubernetes.version {text:?}")]
    Version {
        /// The text.
        text: String,
        /// The reason.
        #[source]
        source: VersionError,
    },
    /// The dashboards of extensions, or one of them, cannot be read.
    #[error("error reading dashboards {name}: {source}")]
    Dashboards {
        /// The dashboard; `of extensions` for all of them.
        name: String,
        /// What is wrong.
        #[source]
        source: formats::yaml::Error,
    },
    /// The maintenance window is none.
    #[error(transparent)]
    Window(#[from] WindowError),
    /// The network of the virtual cluster's Services is none.
    #[error("cannot parse service network CIDR: invalid CIDR address: {0}")]
    ServiceNetwork(String),
    /// The annotation that says when a token is renewed has no time.
    #[error("could not parse renew timestamp: {0:?} is no time as RFC 3339 has it")]
    RenewalTime(String),
    /// The Garden has no domain.
    #[error("spec.virtualCluster.dns.domains is empty: add a domain")]
    NoDomain,
    /// The ConfigMap with the audit policy is not there.
    #[error(
        "retrieving audit policy from the ConfigMap {namespace}/{0} failed: configmaps {0:?} not found",
        namespace = NAMESPACE
    )]
    NoAuditPolicy(String),
    /// The ConfigMap has no audit policy.
    #[error("missing '.data.policy' in audit policy ConfigMap {namespace}/{0}", namespace = NAMESPACE)]
    EmptyAuditPolicy(String),
    /// A Secret with a kubeconfig is not there, or has none.
    #[error(
        "failed reading kubeconfig for {user} from referenced secret {namespace}/{name}: {reason}",
        namespace = NAMESPACE
    )]
    Kubeconfig {
        /// Who uses it, such as `audit webhook`.
        user: &'static str,
        /// The Secret.
        name: String,
        /// What is missing.
        reason: String,
    },
    /// The configuration of the ingress controller is no object.
    #[error("cannot read spec.runtimeCluster.ingress.controller.providerConfig: {0} is no object")]
    IngressConfig(String),
    /// The configuration of an admission plugin cannot be read, or is of another kind than the plugin's.
    #[error("cannot decode config for admission plugin {plugin}: {reason}")]
    PluginConfig {
        /// The plugin.
        plugin: String,
        /// What is wrong.
        reason: String,
    },
    /// An existing kubeconfig cannot be read.
    #[error("failed to read the kubeconfig in Secret {namespace}/{name}: {reason}", namespace = NAMESPACE)]
    ExistingKubeconfig {
        /// The Secret.
        name: String,
        /// What is wrong.
        reason: String,
    },
}

impl RenderError {
    /// A value that has no YAML form.
    pub(crate) fn yaml(what: &str) -> impl FnOnce(serde_json::Error) -> Self + use<> {
        let what = what.to_owned();
        move |source| Self::Yaml { what, source }
    }
}
