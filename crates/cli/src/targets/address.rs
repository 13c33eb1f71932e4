//! Checks the addresses of a target before anything is sent to them.

use contract::document::target::{TargetFile, TargetSpec};
use contract::document::{self, SourceFile, target};
use formats::yaml::Mark;
use webhook::url::Url;

/// Placeholders for ports, which the tool chooses.
const PORTS: [&str; 3] = ["<port>", "<healthPort>", "<metricsPort>"];

/// Checks the address of a webhook: `https://HOST:PORT`, with a prefix of the paths if there is one.
pub(super) fn check_webhook(address: &str) -> Result<(), String> {
    let url = parse(address, &["https"])?;
    if !url.query.is_empty() || address.contains('?') {
        return Err("query parameters are not permitted in the address".to_owned());
    }
    Ok(())
}

/// Reads a target file and checks its addresses.
pub(crate) fn read_file(file: &SourceFile) -> Result<TargetFile, document::Error> {
    let read = target::read(file)?;
    let TargetSpec { url, ready, metrics, .. } = &read.spec;
    let webhook = url.iter().map(|address| ("url", address, check_webhook(address)));
    let plain = [("ready", ready), ("metrics", metrics)]
        .into_iter()
        .filter_map(|(field, address)| Some((field, address.as_ref()?, check_plain(address.as_ref()?))));
    for (field, address, checked) in webhook.chain(plain) {
        checked.map_err(|reason| error(file, (field, address), &reason))?;
    }
    for (name, path) in &read.spec.paths {
        if !path.starts_with('/') || path.contains(['?', '#']) {
            let reason = "a path begins with / and has neither a query nor a fragment";
            return Err(error(file, (&format!("paths.{name}"), path), reason));
        }
    }
    Ok(read)
}

/// A text about an address, without the user and the password in it.
pub(super) fn without_user(text: &str, address: &str) -> String {
    let begin = address.find("://").map_or(0, |scheme| scheme + 3);
    match address.rfind('@').filter(|at| *at >= begin) {
        Some(at) => text.replace(&address[begin..=at], ""),
        None => text.to_owned(),
    }
}

/// Checks the address of a health check or of metrics.
fn check_plain(address: &str) -> Result<(), String> {
    parse(address, &["http", "https"]).map(drop)
}

fn parse(address: &str, schemes: &[&str]) -> Result<Url, String> {
    let with_ports = PORTS.iter().fold(address.to_owned(), |text, port| text.replace(port, "1"));
    let url = Url::parse(&with_ports).map_err(|error| error.to_string())?;
    if !schemes.contains(&url.scheme.as_str()) {
        let schemes: Vec<String> = schemes.iter().map(|scheme| format!("{scheme}://")).collect();
        return Err(format!("the address must begin with {}", schemes.join(" or ")));
    }
    if url.user.is_some() {
        return Err("user information is not permitted in the address".to_owned());
    }
    if !url.fragment.is_empty() || address.contains('#') {
        return Err("fragments are not permitted in the address".to_owned());
    }
    let port = url.port().filter(|port| port.parse::<u16>().is_ok_and(|port| port > 0));
    if let Some(text) = url.port().filter(|_| port.is_none()) {
        return Err(format!("{text} is no port; ports are 1 to 65535"));
    }
    if url.host.is_empty() || url.host.starts_with(':') {
        return Err("the address has no host".to_owned());
    }
    Ok(url)
}

/// An error at the address in the file.
fn error(file: &SourceFile, (field, address): (&str, &str), reason: &str) -> document::Error {
    let (offset, length) = file.text.find(address).map_or((0, 0), |offset| (offset, address.len()));
    let before = &file.text[..offset];
    let column = before.rsplit('\n').next().map_or(0, |line| line.chars().count()) + 1;
    let mark = Mark { line: before.matches('\n').count() + 1, column, offset };
    let remedy = match field {
        "url" => "write `url: https://HOST:PORT`".to_owned(),
        field if field.starts_with("paths.") => "write a path such as /webhooks/my-webhook".to_owned(),
        field => format!("write `{field}: http://HOST:PORT/PATH`"),
    };
    file.error(mark, length, without_user(&format!("{field}: {reason}"), address), Some(remedy))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_63_addresses_are_checked_before_anything_is_sent() {
        let table = [
            ("https://127.0.0.1:19443", Ok(())),
            ("https://[::1]:<port>/prefix", Ok(())),
            ("HTTPS://host", Ok(())),
            ("https://127.0.0.1:19443/?x=1", Err("query parameters are not permitted in the address")),
            ("https://127.0.0.1:19443?", Err("query parameters are not permitted in the address")),
            ("https://127.0.0.1:99999", Err("99999 is no port; ports are 1 to 65535")),
            ("https://127.0.0.1:0", Err("0 is no port; ports are 1 to 65535")),
            ("https://user:pw@127.0.0.1:1", Err("user information is not permitted in the address")),
            ("https://127.0.0.1:19443#frag", Err("fragments are not permitted in the address")),
            ("https://[::1", Err("parse \"https://[::1\": missing ']' in host")),
            ("https://", Err("the address has no host")),
            ("https://:443", Err("the address has no host")),
            ("http://host", Err("the address must begin with https://")),
            ("host:443", Err("the address must begin with https://")),
            ("127.0.0.1:443", Err("parse \"127.0.0.1:443\": first path segment in URL cannot contain colon")),
        ];
        for (address, want) in table {
            assert_eq!(check_webhook(address), want.map_err(str::to_owned), "{address}");
        }
    }

    #[test]
    fn a_password_in_an_address_is_not_printed() {
        let address = "https://user:secret@[::1";
        let reason = check_webhook(address).unwrap_err();
        assert_eq!(without_user(&reason, address), "parse \"https://[::1\": missing ']' in host");
        assert_eq!(without_user("url=https://a: x", "https://a"), "url=https://a: x");
    }

    #[test]
    fn case_63_addresses_in_target_files_are_checked_at_their_line() {
        let read = |spec: &str| {
            let head = "apiVersion: conformance.gardener.cloud/v1alpha1\nkind: Target\nmetadata: {name: x}\n";
            let file = SourceFile::new("target.yaml", format!("{head}spec:\n{spec}"));
            read_file(&file).map(drop).map_err(|error| error.to_string())
        };
        let table = [
            (
                "  url: https://a:1/?x\n",
                "target.yaml:5:8: url: query parameters are not permitted in the address",
            ),
            ("  url: https://a:99999\n", "target.yaml:5:8: url: 99999 is no port; ports are 1 to 65535"),
            (
                "  command: [x]\n  ready: http://a:99999/readyz\n",
                "target.yaml:6:10: ready: 99999 is no port; ports are 1 to 65535",
            ),
            (
                "  command: [x]\n  metrics: http://u@a:<metricsPort>/metrics\n",
                "target.yaml:6:12: metrics: user information is not permitted in the address",
            ),
        ];
        for (spec, want) in table {
            assert_eq!(read(spec), Err(want.to_owned()));
        }
        let path = "target.yaml:6:14: paths.a: a path begins with / and has neither a query nor a fragment";
        assert_eq!(read("  url: https://a\n  paths: {a: b?c}\n"), Err(path.to_owned()));
        assert_eq!(read("  command: [x]\n  ready: http://a:<healthPort>/healthz\n"), Ok(()));
    }
}
