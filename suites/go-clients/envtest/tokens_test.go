package envtest

import (
	"context"
	"io"
	"slices"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
)

// token is a token of a service account for audiences; without any, for the server.
func token(t *testing.T, ns, account string, audiences ...string) string {
	t.Helper()
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{Audiences: audiences}}
	accounts := clientset(t, config).CoreV1().ServiceAccounts(ns)
	made, err := accounts.CreateToken(within(t), account, request, metav1.CreateOptions{})
	must(t, err)
	return made.Status.Token
}

// review says whose token it is, for audiences.
func review(t *testing.T, token string, audiences ...string) authenticationv1.TokenReviewStatus {
	t.Helper()
	asked := &authenticationv1.TokenReview{Spec: authenticationv1.TokenReviewSpec{Token: token, Audiences: audiences}}
	answer, err := clientset(t, config).AuthenticationV1().TokenReviews().Create(within(t), asked, metav1.CreateOptions{})
	must(t, err)
	return answer.Status
}

// bearer is the configuration of whoever has a token.
func bearer(token string) *rest.Config {
	made := rest.AnonymousClientConfig(config)
	made.BearerToken = token
	return made
}

func TestTokensAreForTheirAudiences(t *testing.T) {
	in, ns := typed(t, config), namespace(t)
	must(t, in.Create(within(t), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "robot", Namespace: ns}}))
	name := "system:serviceaccount:" + ns + ":robot"

	own := token(t, ns, "robot")
	info, err := whoami(t, bearer(own))
	must(t, err)
	equal(t, "the holder", info.Username, name)
	reviewed := review(t, own)
	equal(t, "a token for the server is authenticated", reviewed.Authenticated, true)
	equal(t, "its user", reviewed.User.Username, name)

	vault := token(t, ns, "robot", "vault", "bank")
	if _, err := whoami(t, bearer(vault)); !apierrors.IsUnauthorized(err) {
		t.Errorf("a token for others at the server: %v", err)
	}
	equal(t, "a token for others is authenticated for the server", review(t, vault).Authenticated, false)
	reviewed = review(t, vault, "vault", "other")
	equal(t, "it is authenticated for one of its audiences", reviewed.Authenticated, true)
	equal(t, "that is said", slices.Equal(reviewed.Audiences, []string{"vault"}), true)
	equal(t, "it is authenticated for another", review(t, vault, "other").Authenticated, false)

	must(t, in.Delete(within(t), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "robot", Namespace: ns}}))
	// The real server remembers for some seconds whose a token is.
	eventually(t, "the token ends with its account", func(context.Context) (bool, error) {
		_, err := whoami(t, bearer(own))
		return apierrors.IsUnauthorized(err), err
	})
}

// read is all of a reader.
func read(t *testing.T, reader io.Reader) string {
	t.Helper()
	text, err := io.ReadAll(reader)
	must(t, err)
	return string(text)
}
