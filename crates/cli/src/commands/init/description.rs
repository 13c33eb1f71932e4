//! The target file that `init provider` writes, with optional fields as comments, and the next command.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use conformance::gardener::provider;

use super::assumed::Assumed;
use super::probe::{ProbeAnswer, ProbedPath};
use super::registration::RegistrationInfo;
use crate::arguments::InitProviderArguments;
use crate::targets;
use crate::terminal::Failure;

/// The content of the target file, and what belongs to it.
#[derive(Debug, Default)]
pub(super) struct Description {
    name: String,
    file: PathBuf,
    /// Address of a running webhook.
    url: Option<String>,
    /// The command line that starts the webhook.
    command: Vec<String>,
    /// The webhook's configuration file.
    config: Option<String>,
    /// PEM file with the CA.
    ca: Option<String>,
    registration: Option<String>,
    /// The provider that the webhook belongs to.
    provider: Option<String>,
    /// What is assumed of the provider.
    assumed: Assumed,
    gardener: Option<String>,
    probed: Vec<ProbedPath>,
    /// Registered webhooks that no contract is about.
    not_ours: Vec<String>,
    /// Flags of `verify` that a target file cannot express.
    flags: Vec<String>,
    /// The command to start before `verify`.
    before: Option<String>,
    /// Further files to write, with their content.
    pub(super) further_files: Vec<(PathBuf, String)>,
}

/// Refuses arguments that a target file cannot express.
pub(super) fn check(arguments: &InitProviderArguments) -> Result<(), Failure> {
    let provider = arguments.provider.as_deref().unwrap_or("x");
    if provider.is_empty()
        || !provider
            .chars()
            .all(|letter| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '-')
    {
        let remedy = "use lower case letters, digits and -, such as aws";
        return Err(Failure::usage(format!("--provider {provider:?} is not a valid name; {remedy}")));
    }
    if let Some(url) = &arguments.url {
        let host = url.strip_prefix("https://").map(|rest| rest.trim_end_matches('/'));
        if host.is_none_or(|host| host.is_empty() || host.contains('/')) {
            let remedy = "write https://HOST:PORT without a path; the tool finds the paths";
            return Err(Failure::usage(format!("--url {url} is not the address of a webhook; {remedy}")));
        }
        if url.contains('@') {
            return Err(Failure::usage(
                "--url contains a user: remove it, because webhooks need none and the target file must have no secrets",
            ));
        }
    }
    Ok(())
}

impl Description {
    fn of(arguments: &InitProviderArguments, probed: Vec<ProbedPath>) -> Self {
        let name = arguments.provider.as_ref().map(|provider| format!("provider-{provider}"));
        Self {
            name: name.unwrap_or_else(|| "provider".to_owned()),
            provider: arguments.provider.clone(),
            file: arguments.file.clone(),
            gardener: arguments.gardener.clone(),
            probed,
            ..Self::default()
        }
    }

    /// Uses the registration's provider if there is no `--provider`, and refuses one that the registration does not select.
    fn set_provider(&mut self, registration: Option<&RegistrationInfo>) -> Result<(), Failure> {
        let selected = registration.map(|registration| registration.selected.clone()).unwrap_or_default();
        let profiles = targets::profiles(None)?;
        let named = self.provider.as_deref().map(|provider| profiles.type_of(provider).to_owned());
        let found = provider::of(named.as_deref(), &selected);
        let found = found.map_err(|unclear| Failure::usage(format!("--provider: {unclear}")))?;
        let of_names = registration.and_then(|registration| registration.named.clone());
        let why = match (&self.provider, &found) {
            (Some(_), _) => "as --provider says",
            (None, Some(_)) => "whose namespaces the registration selects",
            (None, None) => "after which the webhooks of the registration are named",
        };
        self.provider = found.or(of_names);
        if let Some(provider) = &self.provider {
            self.assumed = Assumed::of(provider, why, &profiles);
        }
        Ok(())
    }

    /// What is assumed of the webhook's provider, to be printed; `None`: nothing.
    pub(super) fn assumed(&self) -> Option<&str> {
        Some(self.assumed.sentence.as_str()).filter(|sentence| !sentence.is_empty())
    }

    /// Describes a webhook outside a cluster, which runs already (at `url`) or is started.
    pub(super) fn outside(
        arguments: &InitProviderArguments,
        (url, registration): (Option<String>, Option<&RegistrationInfo>),
        probed: Vec<ProbedPath>,
    ) -> Result<Self, Failure> {
        let mut description = Self::of(arguments, probed);
        let authority = registration.and_then(|registration| registration.authority.clone());
        description.set_provider(registration)?;
        description.not_ours =
            registration.map(|registration| registration.not_ours.clone()).unwrap_or_default();
        let relative = |path: &Path| path_from_target_file(&arguments.file, path);
        description.registration =
            arguments.mutating_webhook_configuration.as_deref().map(relative).transpose()?;
        if let Some(line) = &arguments.command {
            description.command = line.split_whitespace().map(str::to_owned).collect();
            description.config = arguments.config.as_deref().map(relative).transpose()?;
            return Ok(description);
        }
        description.url = url;
        description.ca = arguments.trust.ca.as_deref().map(relative).transpose()?;
        if arguments.trust.insecure {
            description.flags.push("--insecure".to_owned());
        } else if let (None, Some(authority)) = (&description.ca, authority) {
            description.ca = Some(description.add_file("ca.crt", authority));
        }
        if let Some(config) = &arguments.config {
            description.flags.push(format!("--config {}", config.display()));
        }
        Ok(description)
    }

    /// Describes a webhook in a seed.
    pub(super) fn in_seed(
        arguments: &InitProviderArguments,
        registration: &RegistrationInfo,
        probed: Vec<ProbedPath>,
    ) -> Result<Self, Failure> {
        let mut description = Self::of(arguments, probed);
        let (service, port) = &registration.service;
        let namespace = arguments.namespace.as_deref().unwrap_or_default();
        let kubeconfig = arguments.kubeconfig.as_deref().unwrap_or(Path::new("")).display();
        if arguments.provider.is_none() {
            description.name = extension_name(namespace);
        }
        if let Some(content) = &registration.content {
            description.registration = Some(description.add_file("registration.yaml", content.clone()));
        }
        description.set_provider(Some(registration))?;
        description.not_ours.clone_from(&registration.not_ours);
        description.url = Some("https://127.0.0.1:9443".to_owned());
        // The certificate is valid for the Service's name, not for the address of a forwarded port.
        description.flags.push("--insecure".to_owned());
        description.before = Some(format!(
            "kubectl --kubeconfig {kubeconfig} -n {namespace} port-forward service/{service} 9443:{port}"
        ));
        Ok(description)
    }

    /// Adds a file that is written next to the target file, and returns its name.
    fn add_file(&mut self, suffix: &str, content: String) -> String {
        let stem = self.file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let name = format!("{stem}-{suffix}");
        self.further_files.push((self.file.with_file_name(&name), content));
        name
    }

    /// Renders the target file.
    pub(super) fn to_yaml(&self) -> String {
        let mut text = String::new();
        let mut line = |line: &str| writeln!(text, "{line}").expect("writing to memory does not fail");
        line("# Written by `gardener-conformance init provider`. docs/targets.md describes all fields.");
        line("apiVersion: conformance.gardener.cloud/v1alpha1");
        line("kind: Target");
        line(&format!("metadata: {{name: {}}}", self.name));
        line("spec:");
        if let Some(gardener) = &self.gardener {
            line(&format!("  gardener: {}", scalar(gardener)));
        } else {
            line("  # The release of Gardener that the webhook is for; without it, v1.82.0.");
            line("  # gardener: v1.98.0");
        }
        if self.command.is_empty() {
            line("  # The address of the running webhook.");
            line(&format!("  url: {}", scalar(self.url.as_deref().unwrap_or_default())));
        } else {
            line(
                "  # The tool starts the webhook for each run, and fills in ports, certificates and an API server.",
            );
            line("  command:");
            self.command.iter().for_each(|word| line(&format!("  - {}", scalar(word))));
            line("  url: https://127.0.0.1:<port>");
        }
        if let Some(config) = &self.config {
            line(&format!("  config: {{file: {}}}", scalar(config)));
        }
        if let Some(ca) = &self.ca {
            line(&format!("  ca: {}", scalar(ca)));
        }
        self.write_paths(&mut line);
        if let Some(file) = &self.registration {
            line(&format!("  registration: {}", scalar(file)));
            self.write_others(&mut line);
        } else {
            line(
                "  # The registration of the webhook; without it, clauses about namespaces and labels are not supported.",
            );
            line("  # registration: webhooks.yaml");
        }
        if let Some(provider) = &self.provider {
            line(
                "  # The provider of the Shoots, seeds and backups in cases, and of the objects in their namespaces.",
            );
            line(&format!("  provider: {}", scalar(provider)));
        }
        self.assumed.write(&mut line);
        text
    }

    /// Names what the registration has beside our webhooks.
    fn write_others(&self, line: &mut impl FnMut(&str)) {
        if !self.not_ours.is_empty() {
            line("  # It also has these webhooks, which no contract is about:");
            self.not_ours.iter().for_each(|webhook| line(&format!("  # {webhook}")));
        }
    }

    fn write_paths(&self, line: &mut impl FnMut(&str)) {
        let differing: Vec<String> = self
            .probed
            .iter()
            .filter(|probed| {
                probed.answer != ProbeAnswer::NotServed && probed.path != format!("/{}", probed.name)
            })
            .map(|probed| format!("{}: {}", probed.name, scalar(&probed.path)))
            .collect();
        let served: Vec<String> = self.probed.iter().filter_map(ProbedPath::describe_served).collect();
        line(&format!(
            "  # Serves {}. Contracts about other webhooks and controllers are left out.",
            served.join(", ")
        ));
        line("  suite: controlplane");
        let names = self.probed.iter().filter(|probed| probed.answer != ProbeAnswer::NotServed);
        let names: Vec<&str> = names.map(|probed| probed.name.as_str()).collect();
        line(&format!("  serves: [{}]", names.join(", ")));
        if !differing.is_empty() {
            line(&format!("  paths: {{{}}}", differing.join(", ")));
        }
    }

    /// The commands to run next, one per line.
    pub(super) fn next_commands(&self) -> Vec<String> {
        let file = self.file.display().to_string();
        let words = ["gardener-conformance verify --target", &file].into_iter();
        let words = words.chain(self.flags.iter().map(String::as_str));
        let verify = words.collect::<Vec<_>>().join(" ");
        match &self.before {
            Some(before) => vec![format!("next     {before} &"), format!("         {verify}")],
            None => vec![format!("next     {verify}")],
        }
    }
}

/// The path to write in the target file, which is relative to it: unchanged if the file is in the current folder, else absolute.
fn path_from_target_file(file: &Path, path: &Path) -> Result<String, Failure> {
    let here = file.parent().is_none_or(|folder| folder.as_os_str().is_empty() || folder == Path::new("."));
    if here || path.is_absolute() {
        return Ok(path.display().to_string());
    }
    let absolute = std::path::absolute(path)
        .map_err(|error| Failure::usage(format!("failed to find {}: {error}", path.display())))?;
    Ok(absolute.display().to_string())
}

/// The name of an extension by its namespace: `provider-aws` for `extension-provider-aws-x7k2p`.
fn extension_name(namespace: &str) -> String {
    let name = namespace.strip_prefix("extension-").unwrap_or(namespace);
    match name.rsplit_once('-') {
        // Gardener appends five letters and digits.
        Some((name, ending)) if ending.len() == 5 && namespace != name && name.contains('-') => {
            name.to_owned()
        }
        _ => name.to_owned(),
    }
}

/// A text as a YAML scalar, quoted only if necessary.
fn scalar(text: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./=<>:".contains(letter);
    let is_plain_scalar = text
        .starts_with(|letter: char| letter.is_ascii_alphabetic() || "/.".contains(letter))
        && text.chars().all(plain)
        && !text.contains(": ")
        && !text.ends_with(':')
        && formats::yaml::reads_as_string(text);
    if is_plain_scalar { text.to_owned() } else { serde_json::Value::from(text).to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_is_named_by_the_namespace_of_its_extension() {
        let table = [
            ("extension-provider-aws-x7k2p", "provider-aws"),
            ("extension-provider-local", "provider-local"),
            ("garden", "garden"),
        ];
        for (namespace, name) in table {
            assert_eq!(extension_name(namespace), name, "{namespace}");
        }
    }

    #[test]
    fn texts_are_read_back_as_they_were() {
        for text in [
            "./webhook",
            "--port=<port>",
            "a b",
            "yes",
            "https://127.0.0.1:1",
            "x: y",
            "{a}",
            "#",
            "é\"",
            "1",
        ] {
            let read: serde_json::Value = formats::yaml::from_str(&format!("a: {}", scalar(text))).unwrap();
            assert_eq!(read["a"], text);
        }
    }
}
