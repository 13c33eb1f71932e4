//! References, selectors and tolerations.

object! {
    /// A Secret.
    SecretReference {
        /// Its name.
        name: Option<String>,
        /// Its namespace.
        namespace: Option<String>,
    }

    /// An object of the same namespace and of a known kind.
    LocalObjectReference {
        /// Its name.
        name: String,
    }

    /// Any object, or a field of it.
    ObjectReference {
        /// `v1`.
        api_version: Option<String>,
        /// `ConfigMap`.
        kind: Option<String>,
        /// Its namespace.
        namespace: Option<String>,
        /// Its name.
        name: Option<String>,
        /// Its uid.
        uid: Option<String>,
        /// Its resourceVersion.
        resource_version: Option<String>,
        /// A field of it, as a JSON path.
        field_path: Option<String>,
    }

    /// An object of the same namespace.
    CrossVersionObjectReference {
        /// `Secret`.
        kind: String,
        /// Its name.
        name: String,
        /// `v1`.
        api_version: Option<String>,
    }

    /// A named reference that configurations of extensions can use.
    NamedResourceReference {
        /// The name.
        name: String,
        /// The object.
        resource_ref: CrossVersionObjectReference,
    }

    /// Seeds by their labels and provider types.
    SeedSelector {
        /// Labels that a seed must have.
        match_labels: std::collections::BTreeMap<String, String>,
        /// Requirements on a seed's labels.
        match_expressions: Vec<LabelSelectorRequirement>,
        /// Types that a seed's provider may have, `*` for any; empty for the shoot's own type.
        provider_types: Vec<String>,
    }

    /// Objects by their labels.
    LabelSelector {
        /// Labels that an object must have.
        match_labels: std::collections::BTreeMap<String, String>,
        /// Requirements on an object's labels.
        match_expressions: Vec<LabelSelectorRequirement>,
    }

    /// A requirement on one label.
    LabelSelectorRequirement {
        /// The label.
        key: String,
        /// `In`, `NotIn`, `Exists` or `DoesNotExist`.
        operator: String,
        /// Values for `In` and `NotIn`.
        values: Vec<String>,
    }

    /// Taints of seeds that a shoot accepts.
    Toleration {
        /// Key of the taint.
        key: String,
        /// Value of the taint; absent for any.
        value: Option<String>,
    }

    /// Taints of nodes that a pod accepts.
    PodToleration {
        /// Key of the taint; absent for any.
        key: Option<String>,
        /// `Exists` or `Equal`, the default.
        operator: Option<String>,
        /// Value of the taint.
        value: Option<String>,
        /// Effect of the taint; absent for any.
        effect: Option<String>,
        /// How long a pod stays on a node with the taint, in seconds; absent for unlimited.
        toleration_seconds: Option<i64>,
    }

    /// A taint of nodes.
    Taint {
        /// Its key.
        key: String,
        /// Its value.
        value: Option<String>,
        /// `NoSchedule`, `PreferNoSchedule` or `NoExecute`.
        effect: String,
        /// When it was added.
        time_added: Option<k8s_openapi::apimachinery::pkg::apis::meta::v1::Time>,
    }

    /// A user, a group or a ServiceAccount.
    Subject {
        /// `User`, `Group` or `ServiceAccount`.
        kind: String,
        /// Group of that kind.
        api_group: Option<String>,
        /// Its name.
        name: String,
        /// Namespace of a ServiceAccount.
        namespace: Option<String>,
    }
}
