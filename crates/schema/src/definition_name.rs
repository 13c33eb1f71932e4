//! The names of types in Kubernetes' OpenAPI definitions.

use crate::types::{Type, TypeForm};

impl Type {
    /// The definition that the type refers to, such as `io.k8s.api.apps.v1.DeploymentSpec`; `None` for an inline type.
    #[must_use]
    pub fn definition(&self) -> Option<&str> {
        match &self.0.form {
            TypeForm::Reference(_, name) => Some(name),
            _ => None,
        }
    }
}
