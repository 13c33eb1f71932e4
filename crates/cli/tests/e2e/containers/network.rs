//! The connections between the containers of an engine and this machine.

use std::net::{IpAddr, Ipv4Addr, UdpSocket};
use std::path::Path;

use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use crate::environment;

/// Where containers run.
pub(super) struct Network {
    /// The address of a private engine, on which ports are published; `None`: containers share this machine's network.
    engine: Option<IpAddr>,
}

impl Network {
    /// The network of the engine of the tests.
    pub(super) async fn find() -> Result<Self, String> {
        let docker = environment::surroundings().docker().map_err(|error| error.to_string())?;
        let engine = docker.engine().await.map_err(|error| error.to_string())?;
        let address = engine.address.map(|address| address.parse()).transpose();
        address.map(|engine| Self { engine }).map_err(|error| format!("the engine's address: {error}"))
    }

    /// Whether containers share this machine's network, so that no port needs to be published.
    pub(super) fn is_shared(&self) -> bool {
        self.engine.is_none()
    }

    /// The address on which programs in containers listen.
    pub(super) fn listens(&self) -> &'static str {
        if self.is_shared() { "127.0.0.1" } else { "0.0.0.0" }
    }

    /// The address at which this machine reaches ports of containers.
    pub(super) fn host(&self) -> IpAddr {
        self.engine.unwrap_or(Ipv4Addr::LOCALHOST.into())
    }

    /// A kubeconfig with which a container reaches the server of another, which listens on this machine's loopback address.
    pub(super) async fn kubeconfig(&self, path: &str) -> Result<String, String> {
        let text = std::fs::read(Path::new(path)).map_err(|error| format!("{path}: {error}"))?;
        let mut kubeconfig: Value =
            formats::yaml::first_document(&text).map_err(|error| format!("{path}: {error}"))?;
        if let Some(engine) = self.engine {
            let cluster = &mut kubeconfig["clusters"][0]["cluster"];
            let server = cluster["server"].as_str().unwrap_or_default();
            let server = server.strip_prefix("https://").ok_or(format!("{path}: no address"))?;
            let relay = relay(engine, server.to_owned()).await.map_err(|error| error.to_string())?;
            cluster["server"] = format!("https://{relay}").into();
            cluster["tls-server-name"] = "localhost".into();
        }
        Ok(kubeconfig.to_string())
    }
}

/// A port on the address from which this machine reaches the engine; forwards connections to the server.
async fn relay(engine: IpAddr, server: String) -> std::io::Result<String> {
    let route = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0))?;
    route.connect((engine, 1))?;
    let listener = TcpListener::bind((route.local_addr()?.ip(), 0)).await?;
    let address = listener.local_addr()?.to_string();
    tokio::spawn(async move {
        while let Ok((mut client, _)) = listener.accept().await {
            let server = server.clone();
            tokio::spawn(async move {
                let mut server = TcpStream::connect(server).await?;
                tokio::io::copy_bidirectional(&mut client, &mut server).await
            });
        }
    });
    Ok(address)
}

/// The status code of a GET of `http://HOST:PORT/PATH`; the error's text if there is no answer.
pub(super) async fn status_of(address: &str) -> Result<u16, String> {
    let (host, path) = address.trim_start_matches("http://").split_once('/').unwrap_or((address, ""));
    let answer = async {
        let mut stream = TcpStream::connect(host).await?;
        let request = format!("GET /{path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).await?;
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).await.map(|_| answer)
    };
    let answer = answer.await.map_err(|error: std::io::Error| error.to_string())?;
    let text = String::from_utf8_lossy(&answer);
    let code = text.split(' ').nth(1).and_then(|code| code.parse().ok());
    code.ok_or_else(|| format!("not HTTP: {text}"))
}
