//! OpenIDConnectPreset and ClusterOpenIDConnectPreset: settings of OpenID Connect for Shoots without their own,
//! `settings.gardener.cloud/v1alpha1`.

use std::collections::BTreeMap;

use super::reference::LabelSelector;

kind! {
    /// Settings of OpenID Connect for Shoots of its namespace.
    OpenIdConnectPreset, "OpenIDConnectPreset", "OpenIDConnectPresetList", "openidconnectpresets",
    NamespaceResourceScope of garden::settings {
        /// The specification.
        spec: OpenIdConnectPresetSpec,
    }
}

kind! {
    /// Settings of OpenID Connect for Shoots of all projects.
    ClusterOpenIdConnectPreset, "ClusterOpenIDConnectPreset", "ClusterOpenIDConnectPresetList",
    "clusteropenidconnectpresets", ClusterResourceScope of garden::settings {
        /// The specification.
        spec: ClusterOpenIdConnectPresetSpec,
    }
}

object! {
    /// The specification.
    OpenIdConnectPresetSpec {
        /// Settings of the API server.
        server: KubeApiServerOpenIdConnect,
        /// Settings of clients.
        client: Option<OpenIdConnectClientAuthentication>,
        /// The Shoots; empty for all of them.
        shoot_selector: Option<LabelSelector>,
        /// The preset with the greatest weight applies: 1 to 100.
        weight: i32,
    }

    /// The specification.
    ClusterOpenIdConnectPresetSpec {
        /// Settings of the API server.
        server: KubeApiServerOpenIdConnect,
        /// Settings of clients.
        client: Option<OpenIdConnectClientAuthentication>,
        /// The Shoots; empty for all of them.
        shoot_selector: Option<LabelSelector>,
        /// The preset with the greatest weight applies: 1 to 100.
        weight: i32,
        /// The Projects; empty for all of them.
        project_selector: Option<LabelSelector>,
    }

    /// Settings of the API server.
    KubeApiServerOpenIdConnect {
        /// Authorities of the issuer, in PEM.
        ca_bundle: Option<String>,
        /// The client to which tokens must be issued.
        #[serde(rename = "clientID")]
        client_id: String,
        /// The claim with the user's groups.
        groups_claim: Option<String>,
        /// Prefix of groups.
        groups_prefix: Option<String>,
        /// The issuer.
        #[serde(rename = "issuerURL")]
        issuer_url: String,
        /// Claims that a token must have.
        required_claims: BTreeMap<String, String>,
        /// Accepted algorithms of signatures; default `RS256`.
        signing_algs: Vec<String>,
        /// The claim with the user's name; default `sub`.
        username_claim: Option<String>,
        /// Prefix of names.
        username_prefix: Option<String>,
    }

    /// Settings of clients.
    OpenIdConnectClientAuthentication {
        /// The client's secret.
        secret: Option<String>,
        /// Further settings of kubeconfigs.
        extra_config: BTreeMap<String, String>,
    }
}
