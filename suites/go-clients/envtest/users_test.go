package envtest

import (
	"context"
	"slices"
	"strings"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

// user is a user with a client certificate of envtest's authority.
func user(t *testing.T, name string, groups ...string) *envtest.AuthenticatedUser {
	t.Helper()
	made, err := environment.AddUser(envtest.User{Name: name, Groups: groups}, nil)
	must(t, err)
	return made
}

// whoami is the user that the server takes a client for.
func whoami(t *testing.T, as *rest.Config) (authenticationv1.UserInfo, error) {
	t.Helper()
	reviews := clientset(t, as).AuthenticationV1().SelfSubjectReviews()
	review, err := reviews.Create(within(t), &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
	if err != nil {
		return authenticationv1.UserInfo{}, err
	}
	return review.Status.UserInfo, nil
}

func TestAUserMayDoWhatRolesSay(t *testing.T) {
	in, ns := typed(t, config), namespace(t)
	reader := user(t, "alice", "readers-"+ns)
	info, err := whoami(t, reader.Config())
	must(t, err)
	equal(t, "the name", info.Username, "alice")
	equal(t, "the groups", slices.Equal(info.Groups, []string{"readers-" + ns, "system:authenticated"}), true)
	own := typed(t, reader.Config())
	maps := &corev1.ConfigMapList{}
	if err := own.List(within(t), maps, client.InNamespace(ns)); !apierrors.IsForbidden(err) {
		t.Errorf("without a role: %v", err)
	}
	must(t, in.Create(within(t), &rbacv1.Role{
		ObjectMeta: metav1.ObjectMeta{Name: "reader", Namespace: ns},
		Rules:      []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"list"}}},
	}))
	must(t, in.Create(within(t), &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "reader", Namespace: ns},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "reader"},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "Group", Name: "readers-" + ns}},
	}))
	// The real server's authorizer hears of a binding a moment later.
	eventually(t, "the role counts", func(ctx context.Context) (bool, error) {
		err := own.List(ctx, maps, client.InNamespace(ns))
		return err == nil, err
	})
	if err := own.List(within(t), &corev1.SecretList{}, client.InNamespace(ns)); !apierrors.IsForbidden(err) {
		t.Errorf("secrets are not in the role: %v", err)
	}
}

func TestAKubeconfigOfAUserWorksWithKubectl(t *testing.T) {
	kubectl, err := user(t, "admin", "system:masters").Kubectl()
	must(t, err)
	stdout, stderr, err := kubectl.Run("get", "namespaces", "-o", "name")
	if err != nil {
		t.Fatalf("%v: %s", err, read(t, stderr))
	}
	if got := read(t, stdout); !strings.Contains(got, "namespace/kube-system\n") {
		t.Errorf("kubectl printed %q", got)
	}
}

func TestCredentialsThatAreUnknownAreUnauthorized(t *testing.T) {
	stranger := rest.AnonymousClientConfig(config)
	stranger.BearerToken = "unknown"
	if _, err := whoami(t, stranger); !apierrors.IsUnauthorized(err) {
		t.Errorf("a token: %v", err)
	}
	anonymous := typed(t, rest.AnonymousClientConfig(config))
	if err := anonymous.List(within(t), &corev1.NodeList{}); !apierrors.IsForbidden(err) {
		t.Errorf("nobody: %v", err)
	}
}
