//! Adapts cases to a release of Gardener: their objects become what that release writes.

use std::sync::Arc;

use crate::case::Case;
use crate::document::releases::Releases;
use crate::model::{Clause, Contract, Form};

/// The field of a component's configuration that names the release of Gardener.
const FIELD: &str = "gardenerVersion";

/// The release of Gardener that a target is tested with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestedRelease<'a> {
    /// This release.
    Of(&'a str),
    /// The default release.
    Usual,
    /// For each clause a release that it holds for; for targets that support every release.
    Any,
}

impl RequestedRelease<'_> {
    /// The release that a clause is tested with; `None`: its contract has no `releases`.
    #[must_use]
    pub fn of<'c>(&'c self, contract: &'c Contract, clause: &'c Clause) -> Option<&'c str> {
        let releases = contract.releases.as_deref().filter(|_| contract.form != Form::Objects)?;
        Some(match self {
            Self::Of(gardener) => gardener,
            Self::Usual => &releases.default,
            Self::Any => releases.usual(clause.versions.as_deref()),
        })
    }
}

impl Contract {
    /// The contract with objects as the release writes them. `gardenerVersion` in the configuration of a case is set
    /// to this release, or removed if the target is not started for the case (`is_started`).
    #[must_use]
    pub fn of_release(mut self, release: RequestedRelease<'_>, is_started: bool) -> Self {
        let Some(releases) = self.releases.clone().filter(|_| self.form != Form::Objects) else {
            return self;
        };
        let mut clauses = std::mem::take(&mut self.clauses);
        for clause in &mut clauses {
            let Some(gardener) = release.of(&self, clause).map(str::to_owned) else { continue };
            clause.cases.iter_mut().for_each(|case| case.set_release(&gardener, &releases, is_started));
        }
        Self { clauses, ..self }
    }
}

impl Case {
    fn set_release(&mut self, gardener: &str, releases: &Arc<Releases>, is_started: bool) {
        for object in self.given.object.iter_mut().chain(&mut self.given.old) {
            if let Some(written) = releases.written(gardener, object) {
                *object = written;
            }
        }
        if let Some(config) = self.config.as_object_mut().filter(|config| config.contains_key(FIELD)) {
            if is_started {
                config.insert(FIELD.to_owned(), gardener.into());
            } else {
                config.remove(FIELD);
            }
        }
    }
}
