//! The module k8s.io/kubernetes of a release.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use serde_json::Value;

use super::documents::OpenApiDocuments;
use super::go_source::{self, AGGREGATOR, ServedByDefault};
use super::{ReleaseApi, differences};

/// Files that may have the priorities of group versions; newer releases have two.
const PRIORITIES: [&str; 2] =
    ["cmd/kube-apiserver/app/aggregator.go", "pkg/controlplane/apiserver/aggregator.go"];

/// A downloaded module.
pub(super) struct Module {
    version: String,
    folder: PathBuf,
    /// When the release was tagged.
    date: String,
}

impl Module {
    /// Downloads the module of a release, unless Go has it in its cache.
    pub(super) fn download(version: &str) -> Result<Self> {
        let mut go = Command::new("go");
        go.args(["mod", "download", "-json", &format!("k8s.io/kubernetes@{version}")]);
        // No go.mod of this project must take part.
        let output = go.env("GOWORK", "off").current_dir(std::env::temp_dir()).output();
        let output = output.context("failed to start go, which downloads Kubernetes' modules")?;
        let answer: Value = serde_json::from_slice(&output.stdout)
            .with_context(|| format!("go mod download: {}", String::from_utf8_lossy(&output.stderr)))?;
        let text = |name: &str| answer[name].as_str().with_context(|| format!("go mod download: {answer}"));
        let info = fs::read(text("Info")?).context("failed to read the module's information")?;
        let info: Value = serde_json::from_slice(&info).context("the module's information is not JSON")?;
        let date = info["Time"].as_str().context("the module has no date")?.to_owned();
        Ok(Self { version: version.to_owned(), folder: text("Dir")?.into(), date })
    }

    /// 28 of `v1.28.15`.
    pub(super) fn minor(&self) -> Result<u32> {
        Ok(super::numbers(&self.version)?.0)
    }

    /// The release's line in releases.json.
    pub(super) fn facts(&self) -> Result<Value> {
        // `v1.28.0-go1.22.8-bullseye.0`
        let image = self.text(Path::new("build/build-image/cross/VERSION"))?;
        let go = image.trim().split('-').find(|part| part.starts_with("go1."));
        super::facts(&self.version, go.context("the build image names no version of Go")?, &self.date)
    }

    /// The API that it serves by default. Names are taken from `newest`, and what the files lack from the `newer` release.
    pub(super) fn api(&self, newest: &ReleaseApi, newer: &ReleaseApi) -> Result<ReleaseApi> {
        let documents = OpenApiDocuments::read(&self.folder.join("api/openapi-spec/v3"))?;
        let served = ServedByDefault::read(&self.text(Path::new("pkg/controlplane/instance.go"))?)?;
        let mut api = ReleaseApi { priorities: self.priorities()?, ..ReleaseApi::default() };
        let has_singular_names = self.minor()? >= 27;
        for (key, resource) in documents.resources(newest, has_singular_names)? {
            if served.serves(&key) {
                let resource = differences::without_gated(self.minor()?, &key, resource);
                api.resources.insert(key, resource);
            }
        }
        // The documents of old releases lack the aggregator's own group, which has not changed since.
        if !documents.has_group(AGGREGATOR) {
            let prefix = format!("{AGGREGATOR}/");
            let same = newer.resources.iter().filter(|(key, _)| key.starts_with(&prefix));
            api.resources.extend(same.map(|(key, resource)| (key.clone(), resource.clone())));
        }
        api.groups = go_source::order(api.resources.keys(), &api.priorities)?;
        documents.add_definitions(&mut api, newer, AGGREGATOR)?;
        Ok(api)
    }

    fn priorities(&self) -> Result<BTreeMap<String, (u32, u32)>> {
        let mut found = BTreeMap::new();
        for path in PRIORITIES.map(Path::new) {
            if self.folder.join(path).is_file() {
                found.extend(go_source::priorities(&self.text(path)?));
            }
        }
        Ok(found)
    }

    fn text(&self, path: &Path) -> Result<String> {
        let path = self.folder.join(path);
        fs::read_to_string(&path).with_context(|| format!("failed to read {}", path.display()))
    }
}
