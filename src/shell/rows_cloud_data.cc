// Containers, clusters, clouds and data stores.
// How a row reads: shell/rows.h.
#include "shell/rows_data.h"

namespace wick::shell {

namespace {

constexpr RowText kRows[] = {
    {"docker|podman|nerdctl", "v",
     "-0Dv -H:. -c:. -l:. --host=. --context=. --log-level=. --debug --config=r", "-+"},
    {"docker ps|docker images|docker logs|docker inspect|docker version|docker info|"
     "docker stats|docker top|docker port|docker diff|docker history|docker events|"
     "docker help|docker wait|podman ps|podman images|podman logs|"
     "podman inspect|podman version|podman info|podman stats|podman top|podman port",
     ".*",
     "-0aqlstd -f:. -n:. --all --quiet --filter=. --format=. --no-trunc --last=. "
     "--size --latest --tail=. --since=. --until=. --follow --timestamps --details "
     "--type=. --no-stream --digests",
     "+"},
    {"docker start|docker stop|docker restart|docker pause|docker unpause|docker "
     "kill|docker rename|docker tag|docker attach|docker commit|docker export|docker "
     "save|docker import|docker load|podman start|podman stop|podman restart|podman "
     "kill|podman tag",
     ".*",
     "-0aq -t:. -s:. -o:w -i:r --time=. --signal=. --attach --interactive --output=w "
     "--input=r --message=.",
     "1+"},
    {"docker pull|docker build|docker buildx|podman pull|podman build", ".*",
     "-0qa -t:. -f:r --tag=. --file=r --no-cache --pull --build-arg=. --target=. "
     "--platform=. --quiet --progress=. --all-tags --rm --network=. --load --label=.",
     "nj+"},
    {"docker search|podman search", ".", "-f:. --filter=. --limit=. --no-trunc --format=.", "n+"},
    {"docker push|podman push", ".", "-aq --all-tags --quiet --disable-content-trust", "nh+"},
    {"docker login|docker logout", ".*", "-0aq -u:. -p:.", "nX+"},
    {"docker rm|docker rmi|docker image rm|docker container rm|docker network rm|podman rm|"
     "podman rmi",
     "B*", "-0fvl --force --volumes!B --link --no-prune", "+"},
    {"docker cp|podman cp", "hb", "-aLq --archive --follow-link --quiet", "+"},
    {"docker context|docker volume|docker network|docker system|"
     "docker image|docker container|docker builder|docker swarm|docker service|"
     "docker stack|docker node|docker secret|docker config|docker plugin|docker "
     "compose|docker manifest|docker trust|podman volume|podman network|podman "
     "system|podman image|podman container",
     "v",
     "-0vl -f:r -p:. --force --volumes --link --no-prune --file=r --project-name=. "
     "--env-file=r --profile=.",
     "B-+"},
    {"docker context ls|docker context show|docker context inspect|docker volume ls|"
     "docker network ls|docker image ls|docker container ls|docker system df|docker "
     "volume inspect|docker network inspect|docker image inspect|docker container "
     "inspect|docker container logs|docker service ls|docker service ps|docker "
     "service logs|docker stack ls|docker stack ps|docker node ls|docker secret ls|"
     "docker config ls|docker compose ps|docker compose logs|docker compose config|"
     "docker compose images|docker compose top|docker compose ls|docker compose "
     "version|docker system info|docker system events",
     ".*",
     "-0aqtv -f:. -n:. --all --quiet --filter=. --format=. --tail=. --follow "
     "--no-trunc --timestamps --verbose --services",
     "+"},
    {"docker compose up|docker compose start|docker compose restart|docker compose "
     "stop|docker compose build|docker compose pull|docker compose run|docker "
     "compose exec|docker compose create|docker compose down|docker compose pause|"
     "docker compose unpause|docker volume create|docker network create|docker "
     "network connect|docker network disconnect",
     ".*",
     "-0Tq -t:. -u:. -d:. -f:r --detach --build --force-recreate --no-deps --scale=. "
     "--remove-orphans --timeout=. --no-cache --quiet --wait --driver=. -v!B "
     "--volumes!B --rmi=.!B",
     "nj+"},
    {"docker volume rm|docker volume prune|docker network prune|"
     "docker image prune|docker container prune|"
     "docker system prune|docker builder prune|docker swarm leave|docker service rm|"
     "docker stack rm|docker node rm|docker secret rm|docker compose rm|docker "
     "compose kill",
     ".*", "-0afsvq --all --force --volumes --filter=.", "B+"},
    {"docker run|docker exec|podman run|podman exec", ".c",
     "-0diqtPT -e:. -p:. -u:. -w:. -l:. -h:. -m:. -c:. -a:. -v:V --detach "
     "--interactive --tty --rm --name=. --env=. --env-file=r --publish=. "
     "--publish-all --user=. --workdir=. --volume=V --mount=V --network=. --net=. "
     "--hostname=. --memory=. --cpus=. --entrypoint=e --restart=. --privileged!g "
     "--cap-add=.!g --device=.!g --pid=.!g --security-opt=.!g --platform=. --pull=. "
     "--init --read-only --tmpfs=. --label=. --link=. --add-host=. --shm-size=. "
     "--gpus=. --ulimit=. --quiet",
     "nD-+"},
    {"docker-compose|podman-compose", "v", "-f:r -p:. --file=r --project-name=.", "-+"},
    {"docker-compose ps|docker-compose logs|docker-compose config|docker-compose "
     "images|docker-compose top",
     ".*", "-0qft --tail=. --follow", "+"},
    {"docker-compose up|docker-compose start|docker-compose stop|docker-compose "
     "restart|docker-compose build|docker-compose pull|docker-compose down|"
     "docker-compose run|docker-compose exec",
     ".*",
     "-0dtTq --detach --build --force-recreate --no-deps --scale=. --remove-orphans "
     "--no-cache -v!B --volumes!B --rmi=.!B",
     "nj+"},
    {"kubectl|oc|k", "v",
     "-0 -n:. -s:. --namespace=. --context=. --kubeconfig=r --cluster=. --user=.", "n?-+"},
    // Google's kubectl asks the cluster for its version first, whatever the command.
    {"kubectl version", ".*", "--client --short -o:. --output=.", "n+"},
    {"kubectl config|oc config", "v", "--kubeconfig=r", "+-"},
    {"kubectl config view|kubectl config get-contexts|kubectl config current-context|"
     "kubectl config get-clusters|kubectl config get-users",
     ".*", "-0o:. --output=. --minify --no-headers", "n+"},
    {"kubectl config use-context|kubectl config set-context|kubectl config set-cluster|"
     "kubectl config unset|kubectl config rename-context|kubectl config set",
     ".*", "-n:. --namespace=. --cluster=. --user=. --current", "k+"},
    {"terraform version|tofu version", "", "-json", "nm+_"},
    {"helm version|helm env|helm lint|helm help", ".*",
     "--short --client --quiet -json", "+_"},
    {"kubectl auth|kubectl rollout|helm repo|helm search|terraform state|tofu state", "v", "",
     "-+"},
    {"helm repo list|helm repo ls", "", "-o:. --output=.", "+"},
    {"helm search repo", ".*", "-lr -o:. --versions --regexp --output=. --version=. --devel", "+"},
    {"helm search hub", ".*", "-o:. --output=. --max-col-width=.", "n+"},
    {"helm repo update|helm repo add", ".*", "--force-update --fail-on-repo-update-fail", "nm+"},
    {"terraform state list|terraform state show|tofu state list|tofu state show", ".*", "-id:.",
     "n+_"},
    {"kubectl cp|oc cp", "hb", "-0 -n:. -c:. --namespace=. --container=. --no-preserve", "n+"},
    {"kubectl get|kubectl describe|kubectl logs|kubectl top|kubectl "
     "explain|kubectl api-resources|kubectl api-versions|kubectl cluster-info|"
     "kubectl auth can-i|kubectl auth whoami|kubectl diff|kubectl events|kubectl rollout status|"
     "kubectl rollout history|kubectl wait|kubectl options|oc get|oc describe|oc logs|oc status",
     "S*",
     "-0AwfpR -n:. -o:. -l:. -c:. -L:. --all-namespaces --namespace=. --output=. "
     "--selector=. --watch --show-labels --sort-by=. --field-selector=. "
     "--container=. --follow --tail=. --since=. --previous --timestamps --context=. "
     "--no-headers --kubeconfig=r --for=. --timeout=. --all-containers --prefix "
     "--recursive",
     "n+K"},
    {"kubectl apply|kubectl create|kubectl scale|kubectl set|kubectl label|kubectl "
     "annotate|kubectl rollout undo|kubectl rollout restart|kubectl rollout pause|"
     "kubectl rollout resume|kubectl auth reconcile|kubectl expose|kubectl autoscale|kubectl patch|"
     "kubectl edit|kubectl replace|kubectl run|kubectl exec|kubectl "
     "port-forward|kubectl attach|kubectl debug|kubectl taint|kubectl cordon|kubectl "
     "uncordon|kubectl proxy|kubectl certificate",
     ".*", "", "nU+"},
    {"kubectl delete|kubectl drain|oc delete", ".*",
     "-0AR -n:. -f:r -l:. --all --all-namespaces --namespace=. --force "
     "--grace-period=. --selector=. --ignore-not-found --wait?. --cascade?. "
     "--timeout=. --ignore-daemonsets --delete-emptydir-data --context=. --now",
     "nB+"},
    {"minikube|skaffold|tilt", "v", "-0 -n:. --namespace=.", "m?-+"},
    {"helm|kustomize|kind|k3d|eksctl|argocd|flux|istioctl", "v", "-0 -n:. --namespace=.", "-+"},
    {"helm list|helm ls|helm status|helm history|helm get|helm show|helm "
     "template|minikube status|"
     "minikube ip|kind get",
     ".*", "-0A -n:. -o:. -f:r --namespace=. --all-namespaces --output=. --values=r", "n+"},
    {"helm uninstall|helm delete|helm rollback|minikube delete|kind delete", ".*",
     "-0 -n:. --namespace=. --purge", "nB+"},
    {"terraform|tofu|terragrunt|pulumi|ansible|ansible-playbook|vagrant|packer|nomad|"
     "consul|vault",
     "v", "-chdir:n", "m?-+_"},
    {"terraform plan|terraform show|terraform output|terraform validate|terraform "
     "fmt-check|terraform graph|terraform providers|tofu plan|tofu "
     "show|tofu output|tofu validate|vagrant status|vagrant global-status|consul "
     "members|nomad status|vault status",
     ".*", "-json -no-color -out:w -var:. -var-file:r -target:. -input:.", "nj+_"},
    {"terraform init|terraform fmt|terraform get|terraform workspace|tofu init|tofu "
     "fmt|vagrant up|vagrant halt|vagrant reload|vagrant ssh",
     ".*", "-upgrade -reconfigure -backend-config:. -check!0 -recursive", "nj+_"},
    {"terraform destroy|terraform apply|terraform import|terraform state rm|terraform "
     "state mv|terraform state push|terraform state replace-provider|tofu state rm|terraform "
     "taint|tofu destroy|tofu apply|pulumi destroy|pulumi up|vagrant destroy",
     ".*", "-f -auto-approve -target:. -var:. -var-file:r -force", "nB+_"},
    // What the clouds' own readers take: eval_tools.cc.
    {"cloud:aws|cloud:gcloud|cloud:az", ".*",
     "-g:. -n:. -o:. -q -l:. -s:. --output=. --query=. --profile=. --region=. --format=. "
     "--filter=. --filters=. --project=. --zone=. --limit=. --max-items=. --page-size=. "
     "--no-paginate --no-cli-pager --sort-by=. --resource-group=. --name=. --location=. "
     "--subscription=. --since=. --follow --start-time=. --end-time=. --instance-ids=. --bucket=. "
     "--key=. --log-group-name=. --filter-pattern=. --quiet --uri",
     "n+"},
    {"aws s3|gcloud config", "v", "--profile=. --region=.", "-+"},
    {"gsutil", "v", "-mq", "-+"},
    {"aws s3 ls|gsutil ls|gsutil du|gsutil stat|gsutil cat", ".*",
     "-lahrR --recursive --human-readable --summarize --profile=. --region=.", "n+"},
    {"aws s3 cp|gsutil cp", "jb",
     "-n -r!X -R!X --recursive!X --quiet --dryrun --profile=. --region=. --exclude=. --include=. "
     "--acl=. --content-type=. --storage-class=. --no-progress",
     "n+"},
    {"gcloud config list|gcloud config get-value|gcloud config get", ".*", "--format=. --all",
     "nm+"},
    {"gcloud config set|gcloud config unset", ".*", "", "m+"},
    {"aws", "e*", "", "nBU"},
    {"gcloud|az|doctl|heroku|fly|flyctl|vercel|netlify|firebase|linode-cli|oci|"
     "ibmcloud|wrangler|railway|supabase",
     "e*", "", "nBUm?"},
    {"psql|mysql|mariadb|sqlite3|mongo|mongosh|redis-cli|cqlsh|influx|"
     "clickhouse-client|duckdb|mysqladmin|mongodump|mongorestore|mysqldump|pg_dump|"
     "pg_restore|pg_dumpall|sqlcmd|sqlplus|bq",
     "e*", "", "BU"},
    {"dropdb|dropuser|createdb|createuser|reindexdb|vacuumdb|pg_ctl|initdb|"
     "mysql_install_db",
     ".*", "-0efwW -U:. -h:. -p:. --if-exists --force", "B+"},
    {"qemu-img|virsh|VBoxManage|lxc|lxc-destroy|multipass|incus|systemd-nspawn|"
     "machinectl",
     ".*", "", "U"},
};

}  // namespace

constinit const RowTable kCloudRows = table_of<kRows, 7>();

}  // namespace wick::shell
