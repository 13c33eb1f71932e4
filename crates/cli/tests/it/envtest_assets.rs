//! `envtest-assets`: the folder that it writes, and its programs with the flags that Go's envtest passes.

mod access;
mod program;

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use crate::program::{call, result_of};
use program::{Assets, Started, free_port};

/// How fast a program must start and stop.
const SOON: Duration = Duration::from_secs(1);

fn own() -> PathBuf {
    Path::new(env!("CARGO_BIN_EXE_gardener-conformance")).canonicalize().unwrap()
}

#[test]
fn the_folder_holds_links_and_its_path_is_printed() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let kubectl = here.join("kubectl");
    fs::write(&kubectl, "#!/bin/sh\necho real kubectl\n").unwrap();
    fs::set_permissions(&kubectl, fs::Permissions::from_mode(0o755)).unwrap();
    let write = |path: &Path| {
        let mut command = crate::program::program(here);
        result_of(&command.args(["envtest-assets", "deep/assets"]).env("PATH", path).output().unwrap())
    };
    let assets = here.canonicalize().unwrap().join("deep/assets");
    let first = write(Path::new("/nowhere"));
    first.assert_exit(0, &["kubectl is not in PATH"]);
    assert_eq!(first.out.trim(), assets.to_str().unwrap());
    let target = |name: &str| assets.join(name).canonicalize().unwrap();
    assert_eq!([target("etcd"), target("kube-apiserver"), target("kubectl")], [own(), own(), own()]);
    let missing = result_of(&Command::new(assets.join("kubectl")).arg("version").output().unwrap());
    missing.assert_exit(1, &["kubectl: no kubectl was in PATH"]);
    // The folder has no kubectl: it may be in PATH when it is written again.
    write(&assets).assert_exit(0, &["kubectl is not in PATH"]);
    write(here).assert_exit(0, &["kubectl is ", "/kubectl"]);
    let linked = result_of(&Command::new(assets.join("kubectl")).current_dir("/").output().unwrap());
    linked.assert_exit(0, &["real kubectl"]);
    assert_eq!(fs::read_dir(&assets).unwrap().count(), 3);
}

#[test]
fn programs_that_are_no_links_stay() {
    let folder = tempfile::tempdir().unwrap();
    let assets = folder.path().join("assets");
    fs::create_dir(&assets).unwrap();
    symlink("/nowhere", assets.join("etcd")).unwrap();
    fs::write(assets.join("kube-apiserver"), "real").unwrap();
    let refused = call(folder.path(), &["envtest-assets", "assets"]);
    refused.assert_exit(2, &["assets/kube-apiserver is not a link", "choose another folder"]);
    assert_eq!(fs::read_to_string(assets.join("kube-apiserver")).unwrap(), "real");
    assert_eq!(fs::read_link(assets.join("etcd")).unwrap(), Path::new("/nowhere"), "nothing was written");
    fs::write(folder.path().join("file"), "").unwrap();
    call(folder.path(), &["envtest-assets", "file"]).assert_exit(3, &["failed to make"]);
    call(folder.path(), &["envtest-assets"]).assert_exit(2, &["<DIR>"]);
}

#[test]
fn the_programs_have_the_version_of_their_folder() {
    let assets = Assets::new();
    assert_eq!(assets.run("kube-apiserver", &["--version"]).out.trim(), "Kubernetes v1.36.3");
    let folder = assets.path("assets").display().to_string();
    call(Path::new("/"), &["envtest-assets", &folder, "--kubernetes", "1.28"]).assert_exit(0, &[]);
    assert_eq!(assets.run("kube-apiserver", &["--version"]).out.trim(), "Kubernetes v1.28.15");
    fs::write(assets.path("assets/kubernetes-version"), "1.2").unwrap();
    assets.run("kube-apiserver", &["--version"]).assert_exit(1, &["kubernetes-version", "1.2 is not known"]);
}

#[test]
fn the_folder_is_not_taken_for_a_real_control_plane() {
    let assets = Assets::new();
    let mut command = crate::program::program(Path::new("/"));
    command
        .args(["env", "up", "--foreground", "--substrate", "envtest"])
        .env("XDG_STATE_HOME", assets.path("state"));
    let refused = result_of(&command.env("KUBEBUILDER_ASSETS", assets.path("assets")).output().unwrap());
    refused.assert_exit(2, &["was written by `envtest-assets`", "set KUBEBUILDER_ASSETS to another folder"]);
}

/// The response of a plain HTTP server.
fn get(port: u16, path: &str) -> String {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn etcd_answers_health_checks_and_warns_that_it_stores_nothing() {
    let assets = Assets::new();
    let port = free_port();
    let url = format!("http://127.0.0.1:{port}");
    let flags = [
        format!("--advertise-client-urls={url}"),
        format!("--data-dir={}", assets.path("etcd-data").display()),
        format!("--listen-client-urls={url}"),
        "--listen-peer-urls=http://localhost:0".to_owned(),
        "--unsafe-no-fsync=true".to_owned(),
    ];
    let etcd = assets.start("etcd", &flags, port);
    let health = get(port, "/health");
    assert!(
        health.starts_with("HTTP/1.1 200") && health.ends_with(r#"{"health":"true","reason":""}"#),
        "{health}"
    );
    assert!(get(port, "/v3/kv/range").starts_with("HTTP/1.1 404"));
    let (code, log) = etcd.terminate(SOON);
    assert_eq!(code, Some(0), "{log}");
    assert!(log.contains("stores nothing: the API server keeps its objects in memory"), "{log}");
    assert!(log.contains("a client that needs a store needs a real etcd"), "{log}");
    assert!(!assets.path("etcd-data").exists());
}

#[test]
fn flags_are_found_in_the_help_as_envtest_looks_for_them() {
    let assets = Assets::new();
    let help = |program: &str| {
        let help = assets.run(program, &["--help"]);
        help.assert_exit(0, &[]);
        help.out
    };
    let has = |text: &str, flag: &str| text.lines().any(|line| line.trim_start().starts_with(flag));
    assert!(has(&help("etcd"), "--unsafe-no-fsync"));
    let server = help("kube-apiserver");
    assert!(has(&server, "--token-auth-file") && server.contains(" --feature-gates"), "{server}");
    assert!(!has(&server, "--insecure-port"), "envtest would configure an insecure port");
    assets.run("kube-apiserver", &["--version"]).assert_exit(0, &["Kubernetes v1.36"]);
    assets.run("etcd", &["--version"]).assert_exit(0, &["etcd Version: 3."]);
}

#[test]
fn an_etcd_that_cannot_listen_names_the_flag() {
    let assets = Assets::new();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", taken.local_addr().unwrap());
    let flag = format!("--listen-client-urls={url}");
    let refused = assets.run("etcd", &[&flag]);
    refused.assert_exit(1, &[&format!("etcd: {flag}: failed to listen: Address already in use")]);
    assets
        .run("etcd", &["--listen-client-urls", "https://127.0.0.1:1"])
        .assert_exit(1, &["is not an http:// URL"]);
}

/// The flags of a server at a port, with its certificates in a folder.
fn flags(port: u16, folder: &Path) -> Vec<String> {
    vec![
        format!("--secure-port={port}"),
        "--bind-address=127.0.0.1".to_owned(),
        format!("--cert-dir={}", folder.display()),
        "--authorization-mode=RBAC".to_owned(),
        "--disable-admission-plugins=ServiceAccount".to_owned(),
        "--etcd-servers=http://127.0.0.1:1".to_owned(),
        "--service-cluster-ip-range=10.0.0.0/24".to_owned(),
        "--allow-privileged=true".to_owned(),
    ]
}

#[tokio::test]
async fn a_server_is_ready_at_once_makes_its_certificate_and_ends_at_once() {
    let assets = Assets::new();
    let (port, folder) = (free_port(), assets.path("certificates"));
    let mut given = flags(port, &folder);
    given.extend(
        ["--brand-new-flag=1", "--other-new-flag", "value", "--feature-gates=A=true"].map(str::to_owned),
    );
    let tokens = assets.path("tokens.csv");
    fs::write(&tokens, "secret,admin,1,system:masters\n").unwrap();
    given.push(format!("--token-auth-file={}", tokens.display()));
    let begun = Instant::now();
    let server = assets.start("kube-apiserver", &given, port);
    let took = begun.elapsed();
    assert!(took < SOON, "{took:?}");
    let certificate = folder.join("apiserver.crt");
    let client = program::client(port, &certificate, |_| {});
    for path in ["/healthz", "/readyz", "/livez"] {
        assert_eq!(program::text(&client, path).await.unwrap(), "ok");
    }
    assert_eq!(program::text(&client, "/api/v1/nodes").await.unwrap_err(), 403, "anonymous");
    assert!(folder.join("apiserver.key").is_file());
    // An open watch does not keep it.
    let reader = program::client(port, &certificate, |auth| auth.token = Some("secret".to_owned().into()));
    let watch =
        http::Request::get("/api/v1/namespaces?watch=true").body(kube::client::Body::empty()).unwrap();
    let open = reader.send(watch).await.unwrap();
    assert_eq!(open.status(), 200);
    let (code, log) = server.terminate(SOON);
    drop(open);
    assert_eq!(code, Some(0), "{log}");
    assert!(log.contains("ignored --brand-new-flag=1: unknown"), "{log}");
    assert!(log.contains("ignored --other-new-flag value: unknown"), "{log}");
    assert!(log.contains("--feature-gates has no effect"), "{log}");
    // It is the certificate of the next server there.
    let inode = |name: &str| fs::metadata(folder.join(name)).unwrap().ino();
    let before = (fs::read(folder.join("apiserver.crt")).unwrap(), inode("apiserver.crt"));
    let again = assets.start("kube-apiserver", &flags(port, &folder), port);
    assert_eq!((fs::read(folder.join("apiserver.crt")).unwrap(), inode("apiserver.crt")), before);
    assert_eq!(again.terminate(SOON).0, Some(0));
}

#[tokio::test]
async fn two_servers_run_at_once_and_share_nothing() {
    let assets = Assets::new();
    let tokens = assets.path("tokens.csv");
    fs::write(&tokens, "secret,admin,1,system:masters\n").unwrap();
    let start = |name: &str| -> (Started, u16, PathBuf) {
        let (port, folder) = (free_port(), assets.path(name));
        let mut given = flags(port, &folder);
        given.extend(["--token-auth-file".to_owned(), tokens.display().to_string()]);
        (assets.start("kube-apiserver", &given, port), port, folder)
    };
    let servers = [start("one"), start("two")];
    let mut counts = Vec::new();
    for (at, (_, port, folder)) in servers.iter().enumerate() {
        let client = program::client(*port, &folder.join("apiserver.crt"), |auth| {
            auth.token = Some("secret".to_owned().into());
        });
        if at == 0 {
            let body = r#"{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "mine"}}"#;
            let request =
                http::Request::post("/api/v1/namespaces").header("content-type", "application/json");
            let made: serde_json::Value = client.request(request.body(body.into()).unwrap()).await.unwrap();
            assert_eq!(made["metadata"]["name"], "mine");
        }
        let list: serde_json::Value =
            serde_json::from_str(&program::text(&client, "/api/v1/namespaces").await.unwrap()).unwrap();
        counts.push(list["items"].as_array().unwrap().len());
    }
    assert_eq!(counts, [5, 4]);
    for (server, _, _) in servers {
        assert_eq!(server.terminate(SOON).0, Some(0));
    }
}

#[test]
fn what_keeps_a_server_from_starting_is_one_line_that_names_the_flag() {
    let assets = Assets::new();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let busy = taken.local_addr().unwrap().port();
    let file = |name: &str, content: &str| {
        fs::write(assets.path(name), content).unwrap();
        assets.path(name).display().to_string()
    };
    let key = rcgen::KeyPair::generate().unwrap();
    let certificate = rcgen::CertificateParams::default().self_signed(&key).unwrap().pem();
    let (good, own_key) = (file("good.crt", &certificate), file("good.key", &key.serialize_pem()));
    let other_key = file("other.key", &rcgen::KeyPair::generate().unwrap().serialize_pem());
    let (bad, short) = (file("bad.pem", "no PEM"), file("short.csv", "token,user\n"));
    let busy = busy.to_string();
    let table: [(&[&str], &str); 14] = [
        (&["--secure-port", &busy], "failed to listen on 127.0.0.1"),
        (&["--secure-port=0"], "must be between 1 and 65535"),
        (&["--secure-port=many"], "--secure-port=many: is not a port (0 to 65535)"),
        (&["--bind-address=nowhere"], "is not an IP address"),
        (&["--tls-cert-file", &bad, "--tls-private-key-file", &own_key], "no certificate found"),
        (&["--tls-private-key-file", &other_key, "--tls-cert-file", &good], "failed to use the private key"),
        (&["--tls-cert-file", &good], "needs --tls-private-key-file"),
        (&["--client-ca-file", &bad], "no certificate found"),
        (&["--token-auth-file=/nowhere/tokens"], "No such file or directory"),
        (&["--token-auth-file", &short], "record 1 has 2 columns"),
        (&["--service-account-signing-key-file", &good], "found no private key"),
        (&["--service-account-key-file", &bad], "found no public key"),
        (&["--requestheader-client-ca-file=/nowhere"], "No such file or directory"),
        (&["--authorization-mode=AlwaysDeny"], "is not supported"),
    ];
    for (given, reason) in table {
        let port = free_port().to_string();
        let mut all = vec!["--bind-address", "127.0.0.1", "--secure-port", &port];
        all.extend(["--disable-admission-plugins", "ServiceAccount"]);
        all.extend(given);
        let refused = assets.run("kube-apiserver", &all);
        let flag = given[0].split('=').next().unwrap();
        refused.assert_exit(1, &[&format!("kube-apiserver: {flag}"), reason]);
        assert_eq!(refused.err.lines().count(), 1, "{}", refused.err);
    }
}
