//! Validates fully qualified domain names as Kubernetes does.

use formats::name;
use webhook::field::{Error, Path};

/// Adds the errors of a domain name, which needs at least two labels; a trailing dot is allowed.
pub(super) fn check(domain: &str, at: &Path, errors: &mut Vec<Error>) {
    if domain.is_empty() {
        errors.push(Error::required(at, ""));
        return;
    }
    let domain = domain.strip_suffix('.').unwrap_or(domain);
    let wrong = name::dns1123_subdomain(domain);
    if !wrong.is_empty() {
        errors.push(Error::invalid(at, domain, &wrong.join(",")));
    } else if !domain.contains('.') {
        let detail = "should be a domain with at least two segments separated by dots";
        errors.push(Error::invalid(at, domain, detail));
    } else if let Some((label, wrong)) = domain
        .split('.')
        .map(|label| (label, name::dns1123_label(label)))
        .find(|(_, wrong)| !wrong.is_empty())
    {
        errors.push(Error::invalid(at, label, &wrong.join(",")));
    }
}
