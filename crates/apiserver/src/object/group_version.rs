//! An apiVersion as Go parses and prints it, and its error about a kind that is not registered.

use webhook::field::quote;

/// The name of kube-apiserver's scheme, which its error about unregistered kinds contains.
const SCHEME: &str = "pkg/runtime/scheme.go:111";
/// The kinds that Go finds in every group and version.
pub(crate) const UNVERSIONED: &[&str] =
    &["Status", "APIVersions", "APIGroupList", "APIGroup", "APIResourceList"];

/// A parsed apiVersion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct GroupVersion<'a> {
    /// `apps`; empty for the core group.
    pub(crate) group: &'a str,
    /// `v1`; empty if absent.
    pub(crate) version: &'a str,
}

impl<'a> GroupVersion<'a> {
    /// Parses an apiVersion; a single slash is as good as none.
    ///
    /// # Errors
    /// If it has two slashes, with Go's message.
    pub(crate) fn read(text: &'a str) -> Result<Self, String> {
        match text.split_once('/') {
            Some((_, version)) if version.contains('/') => {
                Err(format!("unexpected GroupVersion string: {text}"))
            }
            Some((group, version)) => Ok(Self { group, version }),
            None => Ok(Self { group: "", version: text }),
        }
    }

    /// The default if this has no version, and no group or that of the default.
    pub(crate) fn or(self, default: Self) -> Self {
        let lacks_version = self.version.is_empty() && (self.group.is_empty() || self.group == default.group);
        if lacks_version { default } else { self }
    }

    /// Go's error about a kind that is not registered for this version.
    pub(crate) fn unregistered(self, kind: &str) -> String {
        let Self { group, version } = self;
        let place = match (group, version) {
            (group, "__internal") => format!("the internal version of group {}", quote(group)),
            ("", version) => format!("version {}", quote(version)),
            (group, version) => format!("version {}", quote(&format!("{group}/{version}"))),
        };
        format!("no kind {} is registered for {place} in scheme {SCHEME:?}", quote(kind))
    }
}

/// The Go package with the types of a group: `core`, `apps`, `rbac`.
pub(crate) fn package(group: &str) -> &str {
    let package = group.split('.').next().unwrap_or_default();
    if matches!(package, "" | "events") { "core" } else { package }
}
