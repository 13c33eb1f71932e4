//! Kubeconfig files, read as client-go reads them, with the project's own YAML reader: a second one would cost a
//! megabyte of memory.

use std::io;
use std::path::{MAIN_SEPARATOR, Path};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use formats::x509::{Certificate, pem};
use formats::yaml;
use kube::config::{Cluster, Kubeconfig};
use serde_json::Value;

/// Why a kubeconfig cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum KubeconfigError {
    /// The file is missing, unreadable or not UTF-8.
    #[error("{0}")]
    Read(#[source] io::Error),
    /// It is not valid YAML.
    #[error("failed to parse it: {0}")]
    Parse(#[source] yaml::Error),
    /// A value does not fit its field.
    #[error("failed to parse it: {0}")]
    Field(#[source] serde_json::Error),
    /// The current context refers to a missing entry.
    #[error("{0}")]
    Use(#[from] kube::config::KubeconfigError),
}

/// Reads a kubeconfig; of several documents the first counts, of equal keys the last. Relative paths become absolute.
///
/// # Errors
/// When the file cannot be read or parsed.
pub(super) fn read(path: &Path) -> Result<Kubeconfig, KubeconfigError> {
    let mut kubeconfig = parse(&std::fs::read(path).map_err(KubeconfigError::Read)?)?;
    if let Some(folder) = path.parent() {
        resolve(&mut kubeconfig, folder);
    }
    Ok(readable(kubeconfig))
}

/// Reads a kubeconfig that is in no file.
///
/// # Errors
/// When it cannot be parsed.
pub(super) fn of_text(text: &[u8]) -> Result<Kubeconfig, KubeconfigError> {
    Ok(readable(parse(text)?))
}

fn readable(mut kubeconfig: Kubeconfig) -> Kubeconfig {
    kubeconfig.clusters.iter_mut().filter_map(|named| named.cluster.as_mut()).for_each(certificates_alone);
    kubeconfig
}

/// Removes everything but certificates from CA bundles, as Go ignores it; kube rejects the bundle for one broken
/// block.
fn certificates_alone(cluster: &mut Cluster) {
    let given = cluster.certificate_authority_data.as_deref().filter(|data| !data.is_empty());
    let bundle = match (given, &cluster.certificate_authority) {
        (Some(data), _) => STANDARD.decode(data).ok(),
        (None, Some(file)) => std::fs::read(file).ok(),
        (None, None) => None,
    };
    let certificates = Certificate::bundle(&bundle.unwrap_or_default());
    if !certificates.is_empty() {
        let pem: String = certificates.iter().map(|one| pem::encode("CERTIFICATE", &one.der)).collect();
        cluster.certificate_authority_data = Some(STANDARD.encode(pem));
    }
}

fn parse(text: &[u8]) -> Result<Kubeconfig, KubeconfigError> {
    match yaml::first_document(text).map_err(KubeconfigError::Parse)? {
        Value::Null => Ok(Kubeconfig::default()),
        document => serde_json::from_value(document).map_err(KubeconfigError::Field),
    }
}

/// Relative paths start at the file's folder, and empty ones count as absent; a program without a separator is looked
/// up in `PATH`.
fn resolve(kubeconfig: &mut Kubeconfig, folder: &Path) {
    let place = |file: &mut Option<String>| {
        *file = file.take().filter(|file| !file.is_empty()).map(|file| match folder.join(&file).to_str() {
            Some(path) => path.to_owned(),
            None => file,
        });
    };
    for cluster in kubeconfig.clusters.iter_mut().filter_map(|named| named.cluster.as_mut()) {
        place(&mut cluster.certificate_authority);
    }
    for user in kubeconfig.auth_infos.iter_mut().filter_map(|named| named.auth_info.as_mut()) {
        place(&mut user.client_certificate);
        place(&mut user.client_key);
        place(&mut user.token_file);
        if let Some(exec) = &mut user.exec
            && exec.command.as_ref().is_some_and(|command| command.contains(MAIN_SEPARATOR))
        {
            place(&mut exec.command);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONFIG: &str = "
apiVersion: v1
kind: Config
current-context: seed
contexts:
- {name: seed, context: {cluster: seed, user: admin, namespace: garden}}
clusters:
- {name: seed, cluster: {server: 'https://example.com', certificate-authority: ca.crt, tls-server-name: api}}
users:
- {name: admin, user: {tokenFile: /var/run/token, client-key: keys/tls.key, client-certificate: '', as-groups: [a], exec: {command: aws}}}
";

    #[test]
    fn paths_are_relative_to_the_file() {
        let mut read = parse(CONFIG.as_bytes()).unwrap();
        resolve(&mut read, Path::new("/etc/kube"));
        let cluster = read.clusters[0].cluster.clone().unwrap();
        let user = read.auth_infos[0].auth_info.clone().unwrap();
        assert_eq!(cluster.certificate_authority.as_deref(), Some("/etc/kube/ca.crt"));
        assert_eq!(cluster.tls_server_name.as_deref(), Some("api"));
        assert_eq!(user.token_file.as_deref(), Some("/var/run/token"));
        assert_eq!(user.client_key.as_deref(), Some("/etc/kube/keys/tls.key"));
        assert_eq!(user.client_certificate, None);
        assert_eq!(user.exec.unwrap().command.as_deref(), Some("aws"));
        assert_eq!(read.contexts[0].context.as_ref().unwrap().namespace.as_deref(), Some("garden"));
    }

    #[test]
    fn case_21_a_broken_block_beside_a_good_one_is_passed_over() {
        let good = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap().cert.pem();
        let broken = "-----BEGIN CERTIFICATE-----\nMIIB";
        let mut cluster = Cluster {
            certificate_authority_data: Some(STANDARD.encode(format!("{good}{broken}"))),
            ..Cluster::default()
        };
        certificates_alone(&mut cluster);
        let left = STANDARD.decode(cluster.certificate_authority_data.unwrap()).unwrap();
        assert_eq!(String::from_utf8(left).unwrap(), good.replace("\r\n", "\n"));
    }

    #[test]
    fn case_06_of_several_documents_the_first_counts_and_of_equal_keys_the_last() {
        let more =
            format!("{CONFIG}kind: Config\ncurrent-context: shoot\n---\nclusters:\n- {{name: other}}\n");
        let read = parse(more.as_bytes()).unwrap();
        let clusters = read.clusters.iter().map(|named| (named.name.as_str(), named.cluster.is_some()));
        assert_eq!(clusters.collect::<Vec<_>>(), [("seed", true)]);
        assert_eq!(read.current_context.as_deref(), Some("shoot"));
    }

    #[test]
    fn errors_say_what_is_wrong() {
        let parse_result = |text: &str| parse(text.as_bytes()).map(|_| ()).map_err(|error| error.to_string());
        assert_eq!(parse_result(""), Ok(()));
        assert_eq!(
            parse_result("clusters:\n- cluster: {}\n"),
            Err("failed to parse it: missing field `name`".to_owned())
        );
        assert_eq!(
            parse_result("kind: [\n"),
            Err("failed to parse it: line 2, column 1: did not find expected node content".to_owned())
        );
    }
}
