//! Which container images components have, by name and versions of Kubernetes.

mod matching;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fmt;

use formats::version::constraint::Constraint;
use formats::yaml;
use serde::Deserialize;

/// Environment variable: path of a file whose entries replace those of the operator.
pub const OVERWRITE: &str = "IMAGEVECTOR_OVERWRITE";
/// Environment variable: path of a file with image vectors for components that deploy others, such as etcd-druid.
pub const OVERWRITE_COMPONENTS: &str = "IMAGEVECTOR_OVERWRITE_COMPONENTS";

const BUILT_IN: &str = include_str!("images.yaml");
/// Begin of a tag that is a digest.
const DIGEST: &str = "sha256:";

/// Images, in the order in which they are looked through.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ImageVector {
    sources: Vec<ImageSource>,
}

/// Where an image is, and for which versions it is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct ImageSource {
    name: String,
    repository: String,
    tag: Option<String>,
    runtime_version: Option<String>,
    target_version: Option<String>,
    architectures: Option<Vec<String>>,
}

/// The versions that an image is looked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ImageVersions<'a> {
    /// The version of the cluster that it runs in.
    pub runtime: Option<&'a str>,
    /// The version of the cluster that it works with; its tag if the image has none.
    pub target: Option<&'a str>,
}

/// An image. Prints as a container's field `image` has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContainerImage {
    repository: String,
    tag: Option<String>,
}

/// Why there are no images.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ImageVectorError {
    /// The file is no YAML, or of another shape.
    #[error("failed to read the image vector: {0}")]
    Read(yaml::Error),
    /// Entries are not valid.
    #[error("the image vector is not valid: {}", .0.join(", "))]
    Invalid(Vec<String>),
    /// The vector has no such image for these versions.
    #[error("could not find image {name:?} opts {versions}")]
    Missing {
        /// The image.
        name: String,
        /// What was looked for.
        versions: String,
    },
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct VectorFile {
    images: Vec<ImageSource>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ComponentsFile {
    components: Vec<ComponentImages>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct ComponentImages {
    name: String,
    image_vector_overwrite: String,
}

impl ImageVector {
    /// The images that this program deploys unless a file replaces them.
    ///
    /// # Errors
    /// If the data that is compiled in is not valid, which a test excludes.
    pub fn built_in() -> Result<Self, ImageVectorError> {
        Self::parse(BUILT_IN)
    }

    /// Reads a file.
    ///
    /// # Errors
    /// If it is no YAML, or an entry has no name or repository, an empty tag, or a constraint that is none.
    pub fn parse(text: &str) -> Result<Self, ImageVectorError> {
        let VectorFile { images } = yaml::from_str(text).map_err(ImageVectorError::Read)?;
        let faults: Vec<String> =
            images.iter().enumerate().flat_map(|(index, source)| source.faults(index)).collect();
        if faults.is_empty() { Ok(Self { sources: images }) } else { Err(ImageVectorError::Invalid(faults)) }
    }

    /// These images, each replaced by the one of `other` with the same name, versions and architectures; an entry of `other`
    /// without a tag keeps the tag, others are added.
    #[must_use]
    pub fn overwritten_by(mut self, other: Self) -> Self {
        for source in other.sources {
            match self.sources.iter_mut().find(|known| known.is_for_the_same(&source)) {
                Some(known) => {
                    let tag = source.tag.clone().or_else(|| known.tag.take());
                    *known = ImageSource { tag, ..source };
                }
                None => self.sources.push(source),
            }
        }
        self
    }

    /// The image that fits best: one for exactly these versions before one for a range, and that before one for all.
    ///
    /// # Errors
    /// If none fits.
    pub fn find(&self, name: &str, versions: ImageVersions<'_>) -> Result<ContainerImage, ImageVectorError> {
        let named = self.sources.iter().filter(|source| source.name == name);
        let mut best: Option<(usize, &ImageSource)> = None;
        for source in named {
            let Some(score) = matching::score(source, versions) else { continue };
            if best.is_none_or(|(highest, _)| score > highest) {
                best = Some((score, source));
            }
        }
        let (_, source) = best.ok_or_else(|| ImageVectorError::Missing {
            name: name.to_owned(),
            versions: versions.to_string(),
        })?;
        let default = || versions.target.map(|target| format!("v{}", target.trim_start_matches('v')));
        Ok(ContainerImage { repository: source.repository.clone(), tag: source.tag.clone().or_else(default) })
    }
}

/// Reads the file that [`OVERWRITE_COMPONENTS`] names: the text of an image vector by the name of the component.
///
/// # Errors
/// If it is no YAML, a component has no name, or its image vector is not valid.
pub fn of_components(text: &str) -> Result<BTreeMap<String, String>, ImageVectorError> {
    let ComponentsFile { components } = yaml::from_str(text).map_err(ImageVectorError::Read)?;
    let mut vectors = BTreeMap::new();
    for ComponentImages { name, image_vector_overwrite } in components {
        if name.is_empty() {
            let fault = "components[].name: Required value: component name is required";
            return Err(ImageVectorError::Invalid(vec![fault.to_owned()]));
        }
        ImageVector::parse(&image_vector_overwrite)?;
        vectors.insert(name, image_vector_overwrite);
    }
    Ok(vectors)
}

impl ContainerImage {
    /// The same with this tag if it has none.
    #[must_use]
    pub fn or_tag(self, tag: &str) -> Self {
        Self { tag: self.tag.or_else(|| Some(tag.to_owned())), ..self }
    }
}

impl fmt::Display for ContainerImage {
    fn fmt(&self, text: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { repository, tag } = self;
        match tag {
            None => text.write_str(repository),
            Some(tag) if tag.starts_with(DIGEST) => write!(text, "{repository}@{tag}"),
            Some(tag) => write!(text, "{repository}:{tag}"),
        }
    }
}

impl fmt::Display for ImageVersions<'_> {
    fn fmt(&self, text: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (what, version) in [("runtime", self.runtime), ("target", self.target)] {
            if let Some(version) = version {
                write!(text, "{what} version {version} ")?;
            }
        }
        Ok(())
    }
}

impl ImageSource {
    /// What is wrong with the entry of this index.
    fn faults(&self, index: usize) -> Vec<String> {
        let mut faults = Vec::new();
        for (field, text) in [("name", &self.name), ("repository", &self.repository)] {
            if text.is_empty() {
                faults.push(format!("images[{index}].{field}: Required value: image {field} is required"));
            }
        }
        if self.tag.as_ref().is_some_and(String::is_empty) {
            let fault = "Invalid value: \"\": image tag must not be empty if specified";
            faults.push(format!("images[{index}].tag: {fault}"));
        }
        let constraints =
            [("runtimeVersion", &self.runtime_version), ("targetVersion", &self.target_version)];
        for (field, constraint) in constraints {
            let Some(constraint) = constraint else { continue };
            if let Err(error) = Constraint::parse(constraint) {
                faults.push(format!("images[{index}].{field}: Invalid value: {constraint:?}: {error}"));
            }
        }
        faults
    }

    fn is_for_the_same(&self, other: &Self) -> bool {
        let key = |source: &Self| {
            let version = |text: Option<&str>| text.unwrap_or_default().to_owned();
            let runtime = version(source.runtime_version.as_deref());
            let versions = (runtime, version(source.target_version.as_deref()));
            (source.name.clone(), versions, source.architectures.as_ref().map(|all| all.concat()))
        };
        key(self) == key(other)
    }
}
