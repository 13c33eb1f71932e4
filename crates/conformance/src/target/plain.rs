//! Reads from a target without TLS: its metrics.

use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// The text at an `http://` address; `None` if the status is not 200.
pub async fn read(address: &str) -> Option<String> {
    let (host, path) = parts(address)?;
    let answer = async {
        let mut stream = TcpStream::connect(&host).await.ok()?;
        // HTTP/1.0 answers are not chunked, and end with the connection.
        let request = format!("GET {path} HTTP/1.0\r\nHost: {host}\r\n\r\n");
        stream.write_all(request.as_bytes()).await.ok()?;
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).await.ok()?;
        let answer = String::from_utf8(answer).ok()?;
        let (head, body) = answer.split_once("\r\n\r\n")?;
        head.lines().next()?.contains(" 200").then(|| body.to_owned())
    };
    tokio::time::timeout(Duration::from_secs(2), answer).await.ok()?
}

/// `host:port` and path of an address.
pub(super) fn parts(address: &str) -> Option<(String, String)> {
    let (scheme, rest) = address.split_once("://")?;
    let at = rest.find('/').unwrap_or(rest.len());
    let (host, path) = rest.split_at(at);
    let port = if scheme == "https" { 443 } else { 80 };
    let host = if host.rsplit_once(':').is_some() { host.to_owned() } else { format!("{host}:{port}") };
    Some((host, if path.is_empty() { "/".to_owned() } else { path.to_owned() }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_have_a_port_and_a_path() {
        let text = |host: &str, path: &str| Some((host.to_owned(), path.to_owned()));
        assert_eq!(parts("http://127.0.0.1:8081/readyz"), text("127.0.0.1:8081", "/readyz"));
        assert_eq!(parts("https://host"), text("host:443", "/"));
        assert_eq!(parts("host"), None);
    }
}
