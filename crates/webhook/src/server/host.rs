//! The Host of a request, as Go's `net/http` demands it.

use http::{Request, Version, header};

/// Whether HTTP/1.1 says a Host, no request says two, and what is said can be one.
pub(super) fn is_good<B>(request: &Request<B>) -> bool {
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
    fn there_is_one_host() {
        let request = |version: Version, hosts: &[&str]| {
            let mut request = Request::new(());
            *request.version_mut() = version;
            for host in hosts {
                request.headers_mut().append(header::HOST, host.parse().unwrap());
            }
            is_good(&request)
        };
        assert!(request(Version::HTTP_11, &["a:1"]) && request(Version::HTTP_11, &[""]));
        assert!(request(Version::HTTP_10, &[]) && request(Version::HTTP_2, &[]));
        assert!(!request(Version::HTTP_11, &[]));
        assert!(!request(Version::HTTP_11, &["a", "a"]) && !request(Version::HTTP_10, &["a", "b"]));
        assert!(!request(Version::HTTP_11, &["a b"]) && !request(Version::HTTP_11, &["a/b"]));
    }
}
