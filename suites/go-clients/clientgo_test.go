package clients

import (
	"context"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/metadata"
	"k8s.io/utils/ptr"
)

var deploymentResource = appsv1.SchemeGroupVersion.WithResource("deployments")

func TestWatchesListsAndCollections(t *testing.T) {
	in, _ := typed(t)
	all, record := clientset(t)
	maps := all.CoreV1().ConfigMaps(namespace(t, in))
	list, err := maps.List(within(t), metav1.ListOptions{LabelSelector: "go=yes"})
	must(t, err)
	events, err := maps.Watch(within(t), metav1.ListOptions{LabelSelector: "go=yes", ResourceVersion: list.ResourceVersion})
	must(t, err)
	defer events.Stop()
	for _, name := range []string{"a", "b", "c"} {
		made := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"go": "yes"}}}
		made.BinaryData = map[string][]byte{"x": {1, 2, 3}}
		_, err := maps.Create(within(t), made, metav1.CreateOptions{})
		must(t, err)
	}
	page, err := maps.List(within(t), metav1.ListOptions{LabelSelector: "go=yes", Limit: 2})
	must(t, err)
	equal(t, "the first page", len(page.Items), 2)
	page, err = maps.List(within(t), metav1.ListOptions{LabelSelector: "go=yes", Limit: 2, Continue: page.Continue})
	must(t, err)
	equal(t, "the second page", len(page.Items), 1)
	must(t, maps.DeleteCollection(within(t), metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: "go=yes"}))
	seen := map[watch.EventType]int{}
	for seen[watch.Deleted] < 3 {
		select {
		case event, open := <-events.ResultChan():
			if !open {
				t.Fatalf("the watch ended: %v", seen)
			}
			equal(t, "the data", string(event.Object.(*corev1.ConfigMap).BinaryData["x"]), "\x01\x02\x03")
			seen[event.Type]++
		case <-time.After(patience):
			t.Fatalf("no event: %v", seen)
		}
	}
	equal(t, "additions", seen[watch.Added], 3)
	equal(t, "bodies in JSON", record.count("POST", json)+record.count("DELETE", json), 0)
}

func TestPodsAndTheirSubresources(t *testing.T) {
	in, _ := typed(t)
	all, record := clientset(t)
	name := namespace(t, in)
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "default"}}
	_, err := all.CoreV1().ServiceAccounts(name).Create(within(t), account, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		t.Fatal(err)
	}
	pods := all.CoreV1().Pods(name)
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "web", Labels: map[string]string{"app": "web"}}, Spec: podSpec()}
	pod, err = pods.Create(within(t), pod, metav1.CreateOptions{})
	must(t, err)
	equal(t, "the probe's port", pod.Spec.Containers[0].LivenessProbe.HTTPGet.Port, intstr.FromString("http"))
	binding := &corev1.Binding{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Target: corev1.ObjectReference{Kind: "Node", Name: "node"}}
	must(t, pods.Bind(within(t), binding, metav1.CreateOptions{}))
	pod, err = pods.Get(within(t), "web", metav1.GetOptions{})
	must(t, err)
	equal(t, "the node", pod.Spec.NodeName, "node")
	pod.Status.Phase = corev1.PodRunning
	pod.Status.StartTime = ptr.To(metav1.NewTime(time.Unix(1_700_000_000, 0)))
	pod, err = pods.UpdateStatus(within(t), pod, metav1.UpdateOptions{})
	must(t, err)
	equal(t, "the start", pod.Status.StartTime.Unix(), 1_700_000_000)

	minimum := intstr.FromInt32(1)
	budget := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Name: "web"}}
	budget.Spec = policyv1.PodDisruptionBudgetSpec{MinAvailable: &minimum, Selector: &metav1.LabelSelector{MatchLabels: pod.Labels}}
	_, err = all.PolicyV1().PodDisruptionBudgets(name).Create(within(t), budget, metav1.CreateOptions{})
	must(t, err)
	eviction := &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: "web"}, DeleteOptions: &metav1.DeleteOptions{GracePeriodSeconds: ptr.To[int64](0)}}
	// As EvictV1 asks, but only once.
	asked := all.CoreV1().RESTClient().Post().Namespace(name).Resource("pods").Name("web").SubResource("eviction").MaxRetries(0)
	if err := asked.Body(eviction).Do(within(t)).Error(); !apierrors.IsTooManyRequests(err) {
		t.Errorf("an eviction against the budget: %v", err)
	}
	must(t, all.PolicyV1().PodDisruptionBudgets(name).Delete(within(t), "web", metav1.DeleteOptions{}))
	must(t, pods.EvictV1(within(t), eviction))
	if _, err := pods.Get(within(t), "web", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("after the eviction: %v", err)
	}

	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{Audiences: []string{"go"}, ExpirationSeconds: ptr.To[int64](900)}}
	request, err = all.CoreV1().ServiceAccounts(name).CreateToken(within(t), "default", request, metav1.CreateOptions{})
	must(t, err)
	if request.Status.Token == "" || time.Until(request.Status.ExpirationTimestamp.Time) > 900*time.Second {
		t.Errorf("no token for 900 s: %v", request.Status.ExpirationTimestamp)
	}
	equal(t, "bodies in JSON", record.count("POST", json)+record.count("PUT", json), 0)
}

func TestScaleReviewsEventsAndMetadata(t *testing.T) {
	in, _ := typed(t)
	all, record := clientset(t)
	name := namespace(t, in)
	deployments := all.AppsV1().Deployments(name)
	_, err := deployments.Create(within(t), deployment(name), metav1.CreateOptions{})
	must(t, err)
	scale := &autoscalingv1.Scale{ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: name}, Spec: autoscalingv1.ScaleSpec{Replicas: 3}}
	scale, err = deployments.UpdateScale(within(t), "web", scale, metav1.UpdateOptions{})
	must(t, err)
	equal(t, "the scale", scale.Spec.Replicas, 3)

	review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
		ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: "get", Resource: "pods", Namespace: name},
	}}
	review, err = all.AuthorizationV1().SelfSubjectAccessReviews().Create(within(t), review, metav1.CreateOptions{})
	must(t, err)
	equal(t, "may get pods", review.Status.Allowed, true)

	now := time.Unix(1_700_000_000, 123_456_789)
	event := &eventsv1.Event{
		ObjectMeta: metav1.ObjectMeta{Name: "e", Namespace: name}, EventTime: metav1.NewMicroTime(now), Type: "Normal",
		Reason: "Seen", Action: "See", Note: "é", ReportingController: "example.com/go", ReportingInstance: "go-0",
		Regarding: corev1.ObjectReference{APIVersion: "v1", Kind: "Namespace", Name: name, Namespace: name},
	}
	event, err = all.EventsV1().Events(name).Create(within(t), event, metav1.CreateOptions{})
	must(t, err)
	equal(t, "the time to microseconds", event.EventTime.UnixNano(), now.Truncate(time.Microsecond).UnixNano())
	older, err := all.CoreV1().Events(name).Get(within(t), "e", metav1.GetOptions{})
	must(t, err)
	equal(t, "the note in the older form", older.Message, "é")
	equal(t, "bodies in JSON", record.count("POST", json)+record.count("PUT", json), 0)

	config, _ := recorded()
	metadatas, err := metadata.NewForConfig(metadata.ConfigFor(config))
	must(t, err)
	resource := metadatas.Resource(deploymentResource).Namespace(name)
	partial, err := resource.Get(within(t), "web", metav1.GetOptions{})
	must(t, err)
	equal(t, "the label", partial.Labels["app"], "web")
	must(t, resource.Delete(within(t), "web", metav1.DeleteOptions{Preconditions: metav1.NewUIDPreconditions(string(partial.UID))}))
	eventually(t, "the deployment is gone", func(ctx context.Context) (bool, error) {
		_, err := resource.Get(ctx, "web", metav1.GetOptions{})
		return apierrors.IsNotFound(err), err
	})
}
