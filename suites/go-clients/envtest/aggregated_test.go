package envtest

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/util/cert"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// aggregated is an API server that answers who the front proxy says is asking, if it is the front proxy that says so.
type aggregated struct {
	group   string
	proxies *x509.CertPool
}

// caller is what it answers.
type caller struct {
	metav1.TypeMeta `json:",inline"`

	User   string   `json:"user"`
	Groups []string `json:"groups"`
}

func (server aggregated) ServeHTTP(writer http.ResponseWriter, request *http.Request) {
	version := metav1.GroupVersionForDiscovery{GroupVersion: server.group + "/v1", Version: "v1"}
	var answer any
	switch path := strings.TrimSuffix(request.URL.Path, "/"); path {
	case "/apis":
		answer = metav1.APIGroupList{TypeMeta: metav1.TypeMeta{Kind: "APIGroupList", APIVersion: "v1"}}
	case "/apis/" + server.group:
		answer = metav1.APIGroup{
			TypeMeta: metav1.TypeMeta{Kind: "APIGroup", APIVersion: "v1"}, Name: server.group,
			Versions: []metav1.GroupVersionForDiscovery{version}, PreferredVersion: version,
		}
	case "/apis/" + server.group + "/v1":
		answer = metav1.APIResourceList{
			TypeMeta: metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"}, GroupVersion: version.GroupVersion,
			APIResources: []metav1.APIResource{{Name: "callers", Kind: "Caller", Verbs: metav1.Verbs{"get"}}},
		}
	case "/apis/" + server.group + "/v1/callers/me":
		if !server.isProxy(request) {
			http.Error(writer, "not the front proxy", http.StatusUnauthorized)
			return
		}
		answer = caller{
			TypeMeta: metav1.TypeMeta{Kind: "Caller", APIVersion: version.GroupVersion},
			User:     request.Header.Get("X-Remote-User"), Groups: request.Header.Values("X-Remote-Group"),
		}
	default:
		http.NotFound(writer, request)
		return
	}
	writer.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(writer).Encode(answer)
}

// isProxy says whether a request came with the front proxy's certificate.
func (server aggregated) isProxy(request *http.Request) bool {
	shown := request.TLS.PeerCertificates
	if len(shown) == 0 {
		return false
	}
	_, err := shown[0].Verify(x509.VerifyOptions{Roots: server.proxies, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}})
	return err == nil
}

// serve starts it; its port and the authority of its certificate.
func (server aggregated) serve(t *testing.T, name string) (int64, []byte) {
	t.Helper()
	certificate, key, err := cert.GenerateSelfSignedCertKey(name, nil, nil)
	must(t, err)
	pair, err := tls.X509KeyPair(certificate, key)
	must(t, err)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	served := &http.Server{Handler: server}
	tlsConfig := &tls.Config{Certificates: []tls.Certificate{pair}, ClientAuth: tls.RequestClientCert, NextProtos: []string{"http/1.1"}}
	go func() { _ = served.Serve(tls.NewListener(listener, tlsConfig)) }()
	t.Cleanup(func() { _ = served.Close() })
	return int64(listener.Addr().(*net.TCPAddr).Port), certificate
}

// apiService registers an API server behind a Service.
func apiService(group, ns string, port int64, authority []byte) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiregistration.k8s.io/v1",
		"kind":       "APIService",
		"metadata":   map[string]any{"name": "v1." + group},
		"spec": map[string]any{
			"group": group, "version": "v1", "groupPriorityMinimum": int64(100), "versionPriority": int64(100),
			"service":  map[string]any{"name": "aggregated", "namespace": ns, "port": port},
			"caBundle": encode(authority),
		},
	}}
}

func TestAnAggregatedServerIsToldWhoAsks(t *testing.T) {
	in, ns := typed(t, config), namespace(t)
	group := ns + ".example.com"
	published := &corev1.ConfigMap{}
	must(t, in.Get(within(t), client.ObjectKey{Namespace: "kube-system", Name: "extension-apiserver-authentication"}, published))
	proxies := x509.NewCertPool()
	equal(t, "the front proxy's authority is published", proxies.AppendCertsFromPEM([]byte(published.Data["requestheader-client-ca-file"])), true)
	port, authority := aggregated{group: group, proxies: proxies}.serve(t, "aggregated."+ns+".svc")
	must(t, in.Create(within(t), &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: "aggregated", Namespace: ns},
		Spec:       corev1.ServiceSpec{Type: corev1.ServiceTypeExternalName, ExternalName: "localhost"},
	}))
	must(t, in.Create(within(t), apiService(group, ns, port, authority)))
	eventually(t, "the APIService is available", func(ctx context.Context) (bool, error) {
		found := apiService(group, ns, port, nil)
		if err := in.Get(ctx, client.ObjectKeyFromObject(found), found); err != nil {
			return false, err
		}
		conditions, _, err := unstructured.NestedSlice(found.Object, "status", "conditions")
		return slices.ContainsFunc(conditions, func(condition any) bool {
			fields := condition.(map[string]any)
			return fields["type"] == "Available" && fields["status"] == "True"
		}), err
	})

	bob := user(t, "bob", "askers-"+ns).Config()
	path := "/apis/" + group + "/v1/callers/me"
	ask := func() (caller, error) {
		answer := caller{}
		text, err := clientset(t, bob).Discovery().RESTClient().Get().AbsPath(path).DoRaw(within(t))
		if err != nil {
			return answer, err
		}
		return answer, json.Unmarshal(text, &answer)
	}
	if _, err := ask(); !apierrors.IsForbidden(err) {
		t.Errorf("without a role: %v", err)
	}
	must(t, in.Create(within(t), &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{Name: ns},
		Rules:      []rbacv1.PolicyRule{{APIGroups: []string{group}, Resources: []string{"callers"}, Verbs: []string{"get"}}},
	}))
	must(t, in.Create(within(t), &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: ns},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: ns},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "User", Name: "bob"}},
	}))
	answer := caller{}
	eventually(t, "the aggregated server answers", func(context.Context) (bool, error) {
		var err error
		answer, err = ask()
		return err == nil, err
	})
	equal(t, "the user", answer.User, "bob")
	equal(t, "the groups", strings.Join(answer.Groups, " "), "askers-"+ns+" system:authenticated")
}
