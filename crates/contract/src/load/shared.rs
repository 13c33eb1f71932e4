//! Fixtures, variations of them, releases and provider profiles, which all contracts share; each is built when the first
//! contract needs it.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use serde_json::Value;

use super::documents::{self, FilePart};
use super::fixtures;
use super::profiles;
use super::report::Report;
use super::variations::{self, Variations};
use crate::document::provider_profile::Profiles;
use crate::document::releases::Releases;
use crate::document::{Error, SourceFile};

/// Separates a fixture's name from the rows of variations: `pod@1.27`.
const VARIED: char = '@';

/// Fixtures, variations and releases, which all contracts share.
pub(crate) struct SharedFixtures {
    sources: Arc<[SourceFile]>,
    plain: OnceLock<Plain>,
    varied: OnceLock<Varied>,
}

/// Fixtures as they are written.
struct Plain {
    objects: BTreeMap<String, Value>,
    variation_drafts: Vec<variations::VariationsDraft>,
    releases: Vec<Arc<Releases>>,
    profiles: BTreeMap<String, Arc<Profiles>>,
    errors: Vec<Error>,
}

/// Variations of fixtures.
struct Varied {
    objects: BTreeMap<String, Arc<Value>>,
    variations: Variations,
    errors: Vec<Error>,
}

/// The shared fixtures that can be looked up.
#[derive(Clone, Copy)]
pub(crate) enum FixtureScope<'a> {
    /// None: the shared fixtures themselves are being built.
    Empty,
    /// Those in files.
    Written(&'a BTreeMap<String, Value>),
    /// Those in files, and variations of them.
    All(&'a SharedFixtures),
}

impl SharedFixtures {
    pub(crate) fn of(sources: &Arc<[SourceFile]>) -> Self {
        Self { sources: Arc::clone(sources), plain: OnceLock::new(), varied: OnceLock::new() }
    }

    /// Every fixture by name.
    pub(crate) fn fixtures(&self) -> BTreeMap<String, Value> {
        let written = self.plain().objects.iter().map(|(name, object)| (name.clone(), object.clone()));
        let varied =
            self.varied().objects.iter().map(|(name, object)| (name.clone(), object.as_ref().clone()));
        written.chain(varied).collect()
    }

    pub(crate) fn variations(&self) -> &Variations {
        &self.varied().variations
    }

    pub(crate) fn releases_of(&self, component: &str) -> Option<Arc<Releases>> {
        self.plain().releases.iter().find(|releases| releases.component == component).cloned()
    }

    pub(crate) fn profiles_of(&self, component: &str) -> Option<Arc<Profiles>> {
        self.plain().profiles.get(component).cloned()
    }

    /// Builds everything now.
    pub(crate) fn build(&self) {
        self.varied();
    }

    /// Errors of everything that was built so far.
    pub(crate) fn errors(&self) -> Vec<Error> {
        let plain = self.plain.get().map(|plain| &plain.errors);
        let varied = self.varied.get().map(|varied| &varied.errors);
        plain.into_iter().chain(varied).flatten().cloned().collect()
    }

    fn plain(&self) -> &Plain {
        self.plain.get_or_init(|| {
            let report = Report::new(&self.sources);
            // A thread of the pool may be waiting for this very object, so no work is given to the pool here.
            let documents = documents::read_sequentially(&[FilePart::Shared, FilePart::Profiles], &report);
            let objects = fixtures::build(&documents.fixtures, &report);
            let profiles = profiles::join(documents.profiles, &report);
            let (variation_drafts, releases) = (documents.variations, documents.releases);
            Plain { objects, variation_drafts, releases, profiles, errors: report.into_errors() }
        })
    }

    fn varied(&self) -> &Varied {
        let plain = self.plain();
        self.varied.get_or_init(|| {
            let report = Report::new(&self.sources);
            let (objects, variations) = variations::build(&plain.variation_drafts, &plain.objects, &report);
            Varied { objects, variations, errors: report.into_errors() }
        })
    }
}

impl<'a> FixtureScope<'a> {
    /// The fixture of this name.
    pub(crate) fn get(self, name: &str) -> Option<&'a Value> {
        match self {
            Self::Empty => None,
            Self::Written(written) => written.get(name),
            Self::All(shared) if name.contains(VARIED) => shared.varied().objects.get(name).map(Arc::as_ref),
            Self::All(shared) => shared.plain().objects.get(name),
        }
    }

    /// The names of all fixtures.
    pub(crate) fn names(self) -> Vec<&'a str> {
        match self {
            Self::Empty => Vec::new(),
            Self::Written(written) => written.keys().map(String::as_str).collect(),
            Self::All(shared) => {
                let varied = shared.varied().objects.keys();
                shared.plain().objects.keys().chain(varied).map(String::as_str).collect()
            }
        }
    }
}
