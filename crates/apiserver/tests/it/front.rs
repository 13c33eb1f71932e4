//! The front door: TLS, who is let in, and as whom.

use apiserver::{ApiServer, Served};
use k8s_openapi::api::core::v1::Namespace;
use kube::api::{Api, ListParams};
use kube::config::{AuthInfo, KubeConfigOptions, Kubeconfig};

async fn client(door: &Served, change: impl FnOnce(&mut AuthInfo)) -> kube::Client {
    let mut kubeconfig = Kubeconfig::from_yaml(&door.kubeconfig()).unwrap();
    change(kubeconfig.auth_infos[0].auth_info.as_mut().unwrap());
    let config =
        kube::Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await.unwrap();
    kube::Client::try_from(config).unwrap()
}

fn token(auth: &mut AuthInfo, token: &str) {
    *auth = AuthInfo { token: Some(token.to_owned().into()), ..AuthInfo::default() };
}

#[tokio::test]
async fn certificates_and_tokens_open_the_door() {
    let server = ApiServer::builder().build();
    let door = server.serve(([127, 0, 0, 1], 0).into()).await.unwrap();
    let by_certificate = client(&door, |_| {}).await;
    let by_token = client(&door, |auth| token(auth, &door.token)).await;
    for client in [by_certificate, by_token] {
        let namespaces: Api<Namespace> = Api::all(client);
        assert_eq!(namespaces.list(&ListParams::default()).await.unwrap().items.len(), 4);
    }
    let users: Vec<String> = server.requests().into_iter().map(|request| request.user).collect();
    assert_eq!(users, ["admin", "system:admin"]);
    for wrong in [
        client(&door, |auth| token(auth, "x")).await,
        client(&door, |auth| *auth = AuthInfo::default()).await,
    ] {
        let namespaces: Api<Namespace> = Api::all(wrong.clone());
        let Err(kube::Error::Api(status)) = namespaces.list(&ListParams::default()).await else {
            panic!("a stranger is not let in");
        };
        assert_eq!((status.code, status.reason.as_str()), (401, "Unauthorized"));
        assert_eq!(wrong.apiserver_version().await.unwrap().minor, "36", "what everybody may know");
    }
    door.shutdown().await;
}
