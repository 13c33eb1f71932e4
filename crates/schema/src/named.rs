//! What a type is called in Kubernetes' definitions.

use crate::types::{Form, Type};

impl Type {
    /// `io.k8s.api.apps.v1.DeploymentSpec`: the definition that a place refers to; absent where it refers to none.
    #[must_use]
    pub fn definition(&self) -> Option<&str> {
        match &self.0.form {
            Form::Reference(name) => Some(name),
            _ => None,
        }
    }
}
