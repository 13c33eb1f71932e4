//! The manifests of a component: the folder `kind/manifests/<name>`, embedded in the binary.

use include_dir::Dir;

/// A component's manifests. `base` is applied in every cluster, `runtime` where the component serves its own cluster
/// alone, and each rollout that answers cases also gets the files of `suite`.
#[derive(Clone, Copy, Debug)]
pub struct Manifests(&'static Dir<'static>);

/// Template of the configuration file; a rollout does not apply it unchanged.
const CONFIGURATION: &str = "suite/config.yaml";

impl Manifests {
    /// The manifests in a folder, embedded with `include_dir!("$MANIFESTS")`; the crate's build script
    /// names the folder.
    #[must_use]
    pub const fn new(folder: &'static Dir<'static>) -> Self {
        Self(folder)
    }

    /// The text of a file, by its path below the folder: `runtime/garden/config.yaml`.
    #[must_use]
    pub fn text(self, path: &str) -> Option<&'static str> {
        self.0.get_file(path)?.contents_utf8()
    }

    /// Path and text of every file below a subfolder, `base` or `runtime`.
    pub fn below(self, folder: &'static str) -> impl Iterator<Item = (&'static str, &'static str)> {
        let is_below = move |path: &str| path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'));
        self.files().into_iter().filter(move |(path, _)| is_below(path))
    }

    /// Name and text of the files that each rollout has in addition to `base`.
    pub fn of_rollouts(self) -> impl Iterator<Item = (&'static str, &'static str)> {
        let files = self.below("suite").filter(|(path, _)| *path != CONFIGURATION);
        files.map(|(path, text)| (path.trim_start_matches("suite/"), text))
    }

    fn files(self) -> Vec<(&'static str, &'static str)> {
        let mut found = Vec::new();
        gather(self.0, &mut found);
        found
    }
}

fn gather(folder: &'static Dir<'static>, found: &mut Vec<(&'static str, &'static str)>) {
    found.extend(folder.files().filter_map(|file| Some((file.path().to_str()?, file.contents_utf8()?))));
    folder.dirs().for_each(|folder| gather(folder, found));
}
