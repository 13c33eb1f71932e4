//! Resolves the value of `--target` to a target.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use conformance::gardener::garden::Garden;
use conformance::gardener::provider;
use conformance::target::built_in::BuiltIn;
use conformance::target::command::CommandTarget;
use conformance::target::url::{TargetDescription, UrlTarget};
use conformance::target::{Needs, Target};
use contract::document::SourceFile;
use contract::document::target::{RegistrationFiles, TargetFile, TargetSpec};
use contract::gardener::kubernetes::newest_kubernetes;
use contract::load::Errors;
use schema::KubernetesVersion;
use serde_json::Value;
use webhook::dial::Trust;
use webhook::registration::WebhookConfiguration;
use webhook::trust::Authorities;

mod address;
mod cluster_objects;
mod files;
mod names;
mod needs;
mod own_components;
mod registered;
mod scope;
mod started;

pub(crate) use address::read_file;
pub(crate) use cluster_objects::profiles;
pub(crate) use files::files;
pub(crate) use names::{KnownNames, check as check_names};
pub(crate) use own_components::own_components;
pub(crate) use registered::{NOTHING_FOR_EXTENSIONS, is_named, not_ours, webhooks_of};
pub(crate) use scope::TargetScope;

use crate::arguments::{BUILT_IN, RunningTargetArguments};
use crate::catalog;
use crate::components::COMPONENTS;
use crate::terminal::Failure;

/// Webhook configurations by instance.
type Registrations = BTreeMap<String, Vec<WebhookConfiguration>>;

/// What the user requested for a target.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Requested<'a> {
    /// The release of Gardener.
    pub(crate) gardener: Option<&'a str>,
    /// The version of Kubernetes that its API servers have.
    pub(crate) kubernetes: Option<KubernetesVersion>,
    /// The folder of `--contracts`, which may have profiles of providers.
    pub(crate) added: Option<&'a Path>,
}

impl Requested<'_> {
    /// The version of embedded API servers: the requested one, else the newest that the release of Gardener supports.
    fn version(&self, gardener: Option<&str>) -> KubernetesVersion {
        self.kubernetes.or_else(|| newest_kubernetes(gardener?)).unwrap_or_default()
    }
}

/// The target that `--target` names; `components` are those of the selected contracts, for `built-in`.
pub(crate) fn resolve<'a>(
    target: &str,
    components: impl IntoIterator<Item = &'a str>,
    running: &RunningTargetArguments,
    requested: Requested<'_>,
) -> Result<Arc<dyn Target>, Failure> {
    let gardener = requested.gardener.map(str::to_owned);
    if target == BUILT_IN {
        if running.describes_target() {
            let text = "--ca, --insecure, --config and --provider are not for --target built-in";
            return Err(Failure::usage(text));
        }
        return own_components(components, requested);
    }
    let provider = cluster_objects::provider_type(running, requested.added)?;
    if let Some(line) = target.strip_prefix("command=") {
        let mut target = started::command(line, running)?;
        target.known.needs.kubernetes = requested.version(requested.gardener);
        (target.known.gardener, target.known.provider) = (gardener, provider);
        return Ok(Arc::new(target));
    }
    if let Some(line) = target.strip_prefix("image=") {
        let mut target = started::image(line, running)?;
        target.known.needs.kubernetes = requested.version(requested.gardener);
        (target.known.gardener, target.known.provider) = (gardener, provider);
        return Ok(Arc::new(target));
    }
    let trust = trust(running.trust.insecure, running.trust.ca.as_deref())?;
    let config = running.config.as_deref().map(configuration).transpose()?;
    if let Some(url) = target.strip_prefix("url=") {
        address::check_webhook(url)
            .map_err(|reason| Failure::usage(address::without_user(&format!("url={url}: {reason}"), url)))?;
        let known = TargetDescription {
            name: host(url),
            paths: own_paths(),
            gardener,
            provider,
            ..TargetDescription::default()
        };
        return running_target(UrlTarget {
            known,
            url: url.to_owned(),
            trust: require_trust(trust)?,
            config,
        });
    }
    from_file(Path::new(target), (trust, config), running, requested)
}

/// Whether the tool starts the target.
pub(crate) fn is_started(target: &str) -> Result<bool, Failure> {
    let is_given = target == BUILT_IN || ["command=", "image="].iter().any(|form| target.starts_with(form));
    Ok(is_given || read_spec(target)?.is_some_and(|spec| spec.is_started()))
}

/// Whether the target is a garden. Its cases keep their facts in an API server of this process until they run.
pub(crate) fn is_garden(target: &str) -> Result<bool, Failure> {
    Ok(read_spec(target)?.is_some_and(|spec| spec.kubeconfig.is_some()))
}

/// The version of Kubernetes that the user requested: by a flag, else in the target file.
pub(crate) fn requested_kubernetes(
    target: &str,
    flag: Option<KubernetesVersion>,
) -> Result<Option<KubernetesVersion>, Failure> {
    match flag {
        Some(version) => Ok(Some(version)),
        None => Ok(read_spec(target)?.and_then(|spec| spec.kubernetes)),
    }
}

/// Refuses names in a target file that nothing has: they would silently leave cases out.
pub(crate) fn check_file(target: &str, added: Option<&Path>) -> Result<(), Failure> {
    let Some(spec) = read_spec(target)?.filter(|spec| !(spec.features.is_empty() && spec.serves.is_empty()))
    else {
        return Ok(());
    };
    let text = fs::read_to_string(target).map_err(|error| Failure::from_cause(2, error))?;
    let file = SourceFile::new(target, text);
    let index = catalog::index(added)?;
    let suites = catalog::suites(added)?.into_iter().map(|suite| suite.metadata.name);
    let suites: Vec<String> = suites.collect();
    match check_names(&file, &spec, &KnownNames::new(index.contracts(), &suites)) {
        errors if errors.is_empty() => Ok(()),
        errors => Err(Failure::diagnostic(Errors(errors))),
    }
}

/// The spec of a target file; `None` if `target` is something else.
fn read_spec(target: &str) -> Result<Option<TargetSpec>, Failure> {
    let is_other =
        target == BUILT_IN || ["url=", "command=", "image="].iter().any(|form| target.starts_with(form));
    if is_other { Ok(None) } else { Ok(Some(read_target(Path::new(target))?.0.spec)) }
}

fn read_target(path: &Path) -> Result<(TargetFile, SourceFile), Failure> {
    let text = fs::read_to_string(path).map_err(|error| {
        Failure::usage(format!(
            "failed to read target {}: {error}; write url=https://…, command=…, image=…, built-in or a target file",
            path.display()
        ))
    })?;
    let file = SourceFile::new(path.display().to_string(), text);
    Ok((read_file(&file).map_err(Failure::diagnostic)?, file))
}

/// A running target. Refuses an address or a CA that cannot be used.
fn running_target(target: UrlTarget) -> Result<Arc<dyn Target>, Failure> {
    target.check().map_err(|error| Failure::usage(format!("target {}: {error}", target.known.name)))?;
    Ok(Arc::new(target))
}

fn from_file(
    path: &Path,
    (trust, config): (Trust, Option<Value>),
    running: &RunningTargetArguments,
    requested: Requested<'_>,
) -> Result<Arc<dyn Target>, Failure> {
    let (described, file) = read_target(path)?;
    let folder = path.parent().map(Path::to_owned).unwrap_or_default();
    let known = description(&described, (path, &file), running, requested)?;
    let spec = described.spec;
    if let Some(kubeconfig) = &spec.kubeconfig {
        return garden_target(&folder.join(kubeconfig), known, running);
    }
    if spec.is_started() {
        started::reject_trust_flags(running)?;
        if config.is_some() {
            return Err(Failure::usage("--config: set `config` in the target file instead"));
        }
        let decisions = Some(decisions());
        let image = spec.image.as_deref().map(started::docker_image).transpose()?;
        return Ok(Arc::new(CommandTarget { known, spec, folder, image, decisions }));
    }
    let trust = match (&spec.ca, trust) {
        (Some(ca), Trust::Bundle(pem)) if pem.is_empty() => self::trust(false, Some(&folder.join(ca)))?,
        (_, trust) => trust,
    };
    running_target(UrlTarget {
        known,
        url: spec.url.unwrap_or_default(),
        trust: require_trust(trust)?,
        config,
    })
}

/// What a target file says of its target.
fn description(
    described: &TargetFile,
    (path, file): (&Path, &SourceFile),
    running: &RunningTargetArguments,
    requested: Requested<'_>,
) -> Result<TargetDescription, Failure> {
    let (spec, folder) = (&described.spec, path.parent().map(Path::to_owned).unwrap_or_default());
    let registrations = spec.registration.as_ref().map(|files| read_registrations(files, &folder));
    let registrations = registrations.transpose()?.unwrap_or_default();
    let selected = provider::selected(registrations.values().flatten());
    let gardener = requested.gardener.map(str::to_owned).or_else(|| spec.gardener.clone());
    let requested = Requested { kubernetes: requested.kubernetes.or(spec.kubernetes), ..requested };
    let needs = Needs {
        kubernetes: requested.version(gardener.as_deref()),
        ..needs::read(spec.needs.iter().map(|file| folder.join(file)))?
    };
    let profiles = cluster_objects::profiles(requested.added)?;
    cluster_objects::check_provider(spec, &profiles, file)?;
    let named = cluster_objects::provider_type(running, requested.added)?;
    let named = named.or_else(|| Some(profiles.type_of(spec.provider.as_deref()?).to_owned()));
    let provider = provider::of(named.as_deref(), &selected);
    Ok(TargetDescription {
        name: described.metadata.name.clone(),
        file: Some(own_file(path, &folder, spec.source.as_deref())),
        version: spec.version.clone(),
        paths: paths_of(spec),
        provider: provider
            .map_err(|reason| Failure::usage(format!("target {}: {reason}", path.display())))?,
        cluster_objects: cluster_objects::read(spec, &profiles, (file, folder.as_path()))?,
        gardener,
        registrations,
        features: spec.features.iter().cloned().collect(),
        parameters: spec.parameters.clone(),
        extras: spec.extras.clone(),
        reads_everywhere: spec.reads_everywhere.iter().cloned().collect(),
        needs,
    })
}

/// The file on which findings of code scanning lie: the source file that a target file names, else the target file.
fn own_file(target: &Path, folder: &Path, source: Option<&str>) -> String {
    source.map_or_else(|| target.to_owned(), |source| folder.join(source)).display().to_string()
}

/// A garden with its own API server for Gardener's kinds.
fn garden_target(
    kubeconfig: &Path,
    known: TargetDescription,
    running: &RunningTargetArguments,
) -> Result<Arc<dyn Target>, Failure> {
    if running.describes_target() || running.kubeconfig.is_some() {
        let text = "--ca, --insecure, --config and --kubeconfig are for webhooks; for a garden, set `kubeconfig` in the \
        target file";
        return Err(Failure::usage(text));
    }
    Ok(Arc::new(Garden::new(known, kubeconfig.to_owned(), decisions())))
}

/// Our garden, whose decisions about versions tell which rows of a contract mean the same at another time.
fn decisions() -> Arc<dyn Target> {
    Arc::new(BuiltIn::of(&gardener_garden::COMPONENT))
}

/// The paths at which our components, like the originals, serve their webhooks.
fn own_paths() -> BTreeMap<String, Vec<String>> {
    let mut paths: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (name, path) in COMPONENTS.iter().flat_map(|component| (component.paths)()) {
        paths.entry(name.to_owned()).or_default().push(path);
    }
    paths
}

/// The same with the paths of a target file, which replace them.
fn paths_of(spec: &TargetSpec) -> BTreeMap<String, Vec<String>> {
    let overrides = spec.paths.iter().map(|(name, path)| (name.clone(), vec![path.clone()]));
    own_paths().into_iter().chain(overrides).collect()
}

/// Reads webhook configurations by instance; the empty name stands for every instance.
fn read_registrations(files: &RegistrationFiles, folder: &Path) -> Result<Registrations, Failure> {
    match files {
        RegistrationFiles::All(file) => {
            Ok(BTreeMap::from([(String::new(), read_registration(&folder.join(file))?)]))
        }
        RegistrationFiles::Each(files) => files
            .iter()
            .map(|(instance, file)| Ok((instance.clone(), read_registration(&folder.join(file))?)))
            .collect(),
    }
}

/// Reads the webhook configurations of a file.
pub(crate) fn read_registration(file: &Path) -> Result<Vec<WebhookConfiguration>, Failure> {
    let wrong =
        |reason: String| Failure::usage(format!("failed to read registration {}: {reason}", file.display()));
    let text = fs::read_to_string(file).map_err(|error| wrong(error.to_string()))?;
    let documents = formats::yaml::documents(&text).map_err(|error| wrong(error.to_string()))?;
    let objects: Vec<Value> = documents.into_iter().flat_map(list_items).collect();
    let configurations = objects.iter().map(WebhookConfiguration::from_object).collect::<Result<Vec<_>, _>>();
    let configurations = configurations.map_err(|error| wrong(error.to_string()))?;
    for webhook in configurations.iter().flat_map(|configuration| &configuration.webhooks) {
        let bundle = webhook.client_config.ca_bundle.as_deref().unwrap_or_default();
        check_bundle(bundle)
            .map_err(|reason| wrong(format!("caBundle of webhook {}: {reason}", webhook.name)))?;
    }
    Ok(configurations)
}

/// The items of a list, as `kubectl get -o yaml` prints several objects; any other object alone.
fn list_items(object: Value) -> Vec<Value> {
    match object["items"].as_array() {
        Some(items) if object["kind"].as_str().is_some_and(|kind| kind.ends_with("List")) => items.clone(),
        _ => vec![object],
    }
}

/// Checks the `caBundle` of a registration. A blank one stands for the authority that is filled in when it is installed.
fn check_bundle(bundle: &str) -> Result<(), String> {
    let pem = STANDARD.decode(bundle).map_err(|error| format!("it is not base64: {error}"))?;
    let is_blank = pem.iter().all(u8::is_ascii_whitespace);
    if is_blank || Authorities::from_pem(&pem).is_ok() {
        return Ok(());
    }
    Err("it contains no certificate (PEM)".to_owned())
}

fn trust(insecure: bool, ca: Option<&Path>) -> Result<Trust, Failure> {
    match ca {
        _ if insecure => Ok(Trust::Insecure),
        Some(file) => {
            let pem = fs::read(file)
                .map_err(|error| Failure::usage(format!("failed to read {}: {error}", file.display())))?;
            Authorities::from_pem(&pem)
                .map_err(|_| Failure::usage(format!("{} contains no certificate (PEM)", file.display())))?;
            Ok(Trust::Bundle(pem))
        }
        None => Ok(Trust::Bundle(Vec::new())),
    }
}

/// Refuses an empty bundle: the user must state whom to trust.
fn require_trust(trust: Trust) -> Result<Trust, Failure> {
    match trust {
        Trust::Bundle(pem) if pem.is_empty() => {
            let remedy = "add --ca FILE (PEM), or --insecure to accept any certificate";
            Err(Failure::usage(format!("no CA for the target's certificate: {remedy}")))
        }
        trust => Ok(trust),
    }
}

/// Reads a component configuration file, without `apiVersion` and `kind`.
fn configuration(file: &Path) -> Result<Value, Failure> {
    let text = read_configuration(file)?;
    let wrong = |reason: String| unreadable(file, &reason);
    let mut config: Value = formats::yaml::from_str(&text).map_err(|error| wrong(error.to_string()))?;
    let fields = config.as_object_mut().ok_or_else(|| wrong("it is not a map".to_owned()))?;
    fields.retain(|name, _| name != "apiVersion" && name != "kind");
    Ok(config)
}

fn read_configuration(file: &Path) -> Result<String, Failure> {
    fs::read_to_string(file).map_err(|error| unreadable(file, &error.to_string()))
}

fn unreadable(file: &Path, reason: &str) -> Failure {
    Failure::usage(format!("failed to read configuration {}: {reason}", file.display()))
}

/// `host:port` of an address.
fn host(url: &str) -> String {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    rest.split('/').next().unwrap_or(rest).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_has_the_requested_version_of_kubernetes_or_the_newest_of_its_release() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("target.yaml");
        let version = |spec: &str, requested: Requested<'_>| {
            let head =
                "apiVersion: conformance.gardener.cloud/v1alpha1\nkind: Target\nmetadata: {name: x}\nspec:";
            fs::write(&file, format!("{head} {{command: [x], {spec}}}\n")).unwrap();
            let running = RunningTargetArguments::default();
            let target = resolve(file.to_str().unwrap(), [], &running, requested);
            let target = target.unwrap_or_else(|failure| panic!("{spec}: {}", failure.text));
            target.needs().kubernetes.to_string()
        };
        let none = Requested::default();
        let gardener = |gardener| Requested { gardener: Some(gardener), ..none };
        let flag =
            Requested { gardener: Some("v1.98.0"), kubernetes: Some("1.26.1".parse().unwrap()), ..none };
        let table = [
            ("features: []", none, "1.36.3"),
            ("gardener: v1.82.0", none, "1.28.15"),
            ("gardener: v1.82.0", gardener("v1.98.0"), "1.30.14"),
            ("features: []", gardener("v1.98.0"), "1.30.14"),
            ("gardener: v1.82.0, kubernetes: 1.27.4", none, "1.27.4"),
            ("gardener: v1.82.0, kubernetes: 1.27", gardener("v1.98.0"), "1.27.16"),
            ("gardener: v1.82.0, kubernetes: 1.27", flag, "1.26.1"),
        ];
        for (spec, requested, want) in table {
            assert_eq!(version(spec, requested), want, "{spec} {requested:?}");
        }
        let line = resolve("command=x <port>", [], &RunningTargetArguments::default(), gardener("v1.82.0"));
        let line = line.unwrap_or_else(|failure| panic!("{}", failure.text));
        assert_eq!(line.needs().kubernetes.to_string(), "1.28.15");
    }

    #[test]
    fn registration_files_are_for_every_instance_or_for_each() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["all", "seed", "shoot"] {
            let text = format!(
                "apiVersion: admissionregistration.k8s.io/v1\nkind: MutatingWebhookConfiguration\nmetadata: {{name: {name}}}\n"
            );
            fs::write(folder.path().join(format!("{name}.yaml")), text).unwrap();
        }
        let file = |name: &str| format!("{name}.yaml");
        let each = ["seed", "shoot"].map(|name| (name.to_owned(), file(name)));
        let table = [
            (RegistrationFiles::All(file("all")), vec![("", "all")]),
            (RegistrationFiles::Each(BTreeMap::from(each)), vec![("seed", "seed"), ("shoot", "shoot")]),
        ];
        for (files, want) in table {
            let found = read_registrations(&files, folder.path()).map_err(|_| files.clone()).unwrap();
            let found: Vec<(&str, &str)> =
                found.iter().map(|(instance, found)| (instance.as_str(), found[0].name.as_str())).collect();
            assert_eq!(found, want);
        }
        let missing = RegistrationFiles::Each(BTreeMap::from([("seed".to_owned(), file("none"))]));
        assert!(read_registrations(&missing, folder.path()).is_err());
    }
}
