//! What `init provider` assumes of a provider, from its profile, and says so.

use contract::document::provider_profile::{Profiles, describe};

/// What is assumed of a provider.
#[derive(Debug, Default)]
pub(super) struct Assumed {
    /// What is printed; empty: nothing is assumed.
    pub(super) sentence: String,
    /// The features of the profile.
    features: Vec<String>,
    /// Its intended changes that no clause mentions.
    extras: Vec<String>,
    /// Whether no profile is known.
    is_unknown: bool,
}

impl Assumed {
    /// What is assumed of a provider that was chosen for a reason.
    pub(super) fn of(provider: &str, why: &str, profiles: &Profiles) -> Self {
        let Some((name, profile)) = profiles.find(provider) else {
            let known = profiles.names().join(", ");
            let sentence = format!(
                "provider {provider}, {why}: there is no profile of it (known are {known}), so namespaces in cases have only \
                 Gardener's own objects; name files with those that the webhook reads in `clusterObjects`"
            );
            return Self { sentence, is_unknown: true, ..Self::default() };
        };
        let objects: Vec<String> = profile.objects.iter().map(describe).collect();
        let features = match profile.features.as_slice() {
            [] => String::new(),
            features => format!("; features [{}]", features.join(", ")),
        };
        let extras = match profile.extras.as_slice() {
            [] => String::new(),
            extras => format!("; extras [{}]", extras.join(", ")),
        };
        let sentence = format!(
            "provider {provider}, {why}: namespaces in cases have Gardener's objects, and of profile {name} {}{features}{extras}",
            objects.join(", ")
        );
        let (features, extras) = (profile.features.clone(), profile.extras.clone());
        Self { sentence, features, extras, is_unknown: false }
    }

    /// Writes the fields of the target file.
    pub(super) fn write(&self, line: &mut impl FnMut(&str)) {
        if self.is_unknown {
            line(
                "  # Files with objects that the webhook reads (its Cluster, Secret cloudprovider, …); there is no profile.",
            );
            line("  clusterObjects: []");
        } else {
            line(
                "  # Files with objects that replace those of the provider's profile, or are added to them.",
            );
            line("  # clusterObjects: [cluster.yaml]");
        }
        line("  # csi: volumes come from CSI drivers, and the cloud controller manager is external.");
        if self.features.is_empty() {
            line("  # features: [csi]");
        } else {
            line(&format!("  features: [{}]", self.features.join(", ")));
        }
        if !self.extras.is_empty() {
            line(
                "  # What the released webhooks of the provider change on purpose although no clause mentions it.",
            );
            line(&format!("  extras: [{}]", self.extras.join(", ")));
        }
    }
}
