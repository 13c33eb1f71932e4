//! Validates the Host header of a request as Go's `net/http` does.

use http::{Request, Version, header};

/// Whether a request has at most one Host, an HTTP/1.1 request exactly one, and only with allowed characters.
pub(super) fn is_valid<B>(request: &Request<B>) -> bool {
    let mut hosts = request.headers().get_all(header::HOST).iter();
    match (hosts.next(), hosts.next()) {
        (None, _) => request.version() != Version::HTTP_11 || request.method() == http::Method::CONNECT,
        (Some(host), None) => host.as_bytes().iter().copied().all(is_allowed),
        (Some(_), Some(_)) => false,
    }
}

fn is_allowed(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!$%&()*+,-.:;='[]_~@".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_need_one_valid_host() {
        let request = |version: Version, hosts: &[&str]| {
            let mut request = Request::new(());
            *request.version_mut() = version;
            for host in hosts {
                request.headers_mut().append(header::HOST, host.parse().unwrap());
            }
            is_valid(&request)
        };
        assert!(request(Version::HTTP_11, &["a:1"]) && request(Version::HTTP_11, &[""]));
        assert!(request(Version::HTTP_10, &[]) && request(Version::HTTP_2, &[]));
        assert!(!request(Version::HTTP_11, &[]));
        assert!(!request(Version::HTTP_11, &["a", "a"]) && !request(Version::HTTP_10, &["a", "b"]));
        assert!(!request(Version::HTTP_11, &["a b"]) && !request(Version::HTTP_11, &["a/b"]));
    }
}
