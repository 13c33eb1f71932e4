//! Metadata of objects that a template describes.

use std::collections::BTreeMap;

object! {
    /// Metadata of a template. Fields that only an API server sets stay in `unknown`.
    TemplateMetadata {
        /// Name of the object.
        name: Option<String>,
        /// Prefix of a generated name.
        generate_name: Option<String>,
        /// Its namespace.
        namespace: Option<String>,
        /// Its labels.
        labels: BTreeMap<String, String>,
        /// Its annotations.
        annotations: BTreeMap<String, String>,
        /// Its finalizers.
        finalizers: Vec<String>,
    }
}
