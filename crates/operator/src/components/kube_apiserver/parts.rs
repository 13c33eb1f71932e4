//! Arguments and volumes that kube-apiserver alone has.

use std::fmt::Display;

use crate::components::api_server::{PodParts, mount};
use crate::components::objects::secret_volume;

/// Adds to arguments and volumes.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct OwnParts(pub(super) PodParts);

impl OwnParts {
    /// Adds an argument.
    pub(super) fn argument(&mut self, argument: &str) {
        self.0.arguments.push(argument.to_owned());
    }

    /// Adds `--flag=value`.
    pub(super) fn flag(&mut self, flag: &str, value: impl Display) {
        self.0.arguments.push(format!("--{flag}={value}"));
    }

    /// Adds `--flag=value` if there is a value.
    pub(super) fn optional_flag<T: Display>(&mut self, flag: &str, value: Option<T>) {
        if let Some(value) = value {
            self.flag(flag, value);
        }
    }

    /// Adds the files of a Secret.
    pub(super) fn secret(&mut self, volume: &str, secret: &str, path: &str) {
        self.0.volumes.push((secret_volume(volume, secret), mount(volume, path, false)));
    }

    /// Adds the files of a Secret, and says that they are only read.
    pub(super) fn read_only_secret(&mut self, volume: &str, secret: &str, path: &str) {
        self.0.volumes.push((secret_volume(volume, secret), mount(volume, path, true)));
    }
}
