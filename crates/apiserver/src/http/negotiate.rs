//! Content negotiation: the `Accept` header, with `as=Table` and `as=PartialObjectMetadata`.

use crate::http::status::Status;

/// The accepted representation and encoding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Accept {
    /// The representation of objects.
    pub(crate) representation: Representation,
    /// Whether it is encoded as YAML.
    pub(crate) yaml: bool,
}

/// The representation of an object.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Representation {
    /// The whole object.
    #[default]
    Full,
    /// A row of a table of this version.
    Table(Version),
    /// Its metadata, as a PartialObjectMetadata of this version.
    Metadata(Version),
}

/// A version of `meta.k8s.io`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Version {
    /// `v1`.
    V1,
    /// `v1beta1`.
    V1beta1,
}

/// The media types in error messages; kube-apiserver names protobuf for all resources.
const MEDIA_TYPES: &[&str] = &["application/json", "application/yaml", "application/vnd.kubernetes.protobuf"];

impl Version {
    /// `meta.k8s.io/v1`.
    pub(crate) fn api_version(self) -> &'static str {
        match self {
            Self::V1 => "meta.k8s.io/v1",
            Self::V1beta1 => "meta.k8s.io/v1beta1",
        }
    }
}

impl Accept {
    /// The first supported media type of the header; JSON if the header is absent.
    pub(crate) fn parse(header: &str) -> Result<Self, Status> {
        if header.trim().is_empty() {
            return Ok(Self::default());
        }
        header.split(',').find_map(Self::parse_clause).ok_or_else(|| Status::not_acceptable(MEDIA_TYPES))
    }

    fn parse_clause(clause: &str) -> Option<Self> {
        let mut parts = clause.split(';').map(str::trim);
        let yaml = match parts.next()? {
            "application/json" | "*/*" | "application/*" => false,
            "application/yaml" => true,
            _ => return None,
        };
        let (mut form, mut group, mut version) = ("", "", "");
        for (key, value) in parts.filter_map(|part| part.split_once('=')) {
            match key {
                "as" => form = value,
                "g" => group = value,
                "v" => version = value,
                _ => {}
            }
        }
        Some(Self { representation: representation(form, group, version)?, yaml })
    }
}

fn representation(form: &str, group: &str, version: &str) -> Option<Representation> {
    if form.is_empty() {
        return Some(Representation::Full);
    }
    let version = match (group, version) {
        ("meta.k8s.io", "v1") => Version::V1,
        ("meta.k8s.io", "v1beta1") => Version::V1beta1,
        _ => return None,
    };
    match form {
        "Table" => Some(Representation::Table(version)),
        "PartialObjectMetadata" | "PartialObjectMetadataList" => Some(Representation::Metadata(version)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_supported_media_type_is_used() {
        let json = |representation| Ok(Accept { representation, yaml: false });
        let table = [
            ("", json(Representation::Full)),
            ("*/*", json(Representation::Full)),
            ("application/json;stream=watch", json(Representation::Full)),
            ("application/vnd.kubernetes.protobuf,application/json", json(Representation::Full)),
            (
                "application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json",
                json(Representation::Table(Version::V1)),
            ),
            (
                "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1",
                json(Representation::Metadata(Version::V1)),
            ),
            ("application/json;as=Other;g=meta.k8s.io;v=v1,application/json", json(Representation::Full)),
            ("application/yaml", Ok(Accept { representation: Representation::Full, yaml: true })),
        ];
        for (header, want) in table {
            assert_eq!(Accept::parse(header), want, "{header}");
        }
        assert_eq!(Accept::parse("application/vnd.kubernetes.protobuf").unwrap_err().code, 406);
    }
}
