// Package managers, build tools and compilers.
// How a row reads: shell/rows.h.
#include "shell/rows_data.h"

namespace wick::shell {

namespace {

constexpr RowText kRows[] = {
    {"apt|apt-get|aptitude", "v",
     "-0qVyfdbm -s!0 -o:e -c:e -t:. --yes --quiet --assume-yes --no-install-recommends "
     "--dry-run!0 --simulate!0 --just-print!0 --no-act!0",
     "-"},
    {"apt list|apt search|apt show|apt policy|apt depends|apt rdepends|apt help|"
     "aptitude search|aptitude show|apt-get check",
     ".*",
     "-0aqnvi --installed --upgradable --all-versions --manual-installed "
     "--names-only --full --verbose",
     ""},
    {"apt install|apt remove|apt purge|apt update|apt upgrade|apt full-upgrade|apt "
     "dist-upgrade|apt autoremove|apt reinstall|apt clean|apt autoclean|apt-get "
     "install|apt-get remove|apt-get purge|apt-get update|apt-get upgrade|apt-get "
     "dist-upgrade|apt-get autoremove|apt-get clean|apt-get autoclean|apt-get "
     "build-dep|apt-get reinstall|apt build-dep|aptitude install|aptitude remove|"
     "aptitude upgrade|aptitude update",
     ".*",
     "-0qVyfdbm -s!0 -t:. --yes --quiet --assume-yes --no-install-recommends "
     "--install-recommends --install-suggests --no-install-suggests --reinstall "
     "--fix-broken --fix-missing --only-upgrade --no-upgrade --purge --auto-remove "
     "--allow-downgrades --allow-unauthenticated --target-release=. --simulate!0 "
     "--dry-run!0 --just-print!0 --no-act!0 --download-only --force-yes",
     "nI"},
    {"apt changelog|apt-get changelog", ".*", "-0q", "n"},
    {"apt download|apt-get download|apt-get source|apt source", ".*", "-0qd", "na"},
    {"apt-cache", "v", "", "-"},
    {"apt-cache search|apt-cache show|apt-cache policy|apt-cache depends|apt-cache "
     "rdepends|apt-cache madison|apt-cache pkgnames|apt-cache stats|apt-cache showpkg",
     ".*", "-afgn --names-only --full --installed", ""},
    {"apt-mark", "v", "", "-"},
    {"apt-mark showhold|apt-mark showmanual|apt-mark showauto", ".*", "", ""},
    {"apt-mark hold|apt-mark unhold|apt-mark manual|apt-mark auto", ".*", "", "I"},
    {"apt-key|add-apt-repository|apt-add-repository", ".*", "", "IU"},
    {"apt-file", "v", "", "-"},
    {"apt-file search|apt-file find|apt-file list|apt-file show", ".*", "-FlxX", ""},
    {"dpkg", ".*",
     "-lLsSpIcCV -i!I -r!I -P!I --list --status --listfiles --search --print-avail "
     "--get-selections --contents --info --audit --print-architecture --verify "
     "--install!I --remove!I --purge!I --configure!I --unpack!I --set-selections!I "
     "--add-architecture!I --compare-versions -a",
     "+"},
    {"dpkg-query", ".*",
     "-lLsSWp -f:. --list --status --listfiles --search --show --showformat=. "
     "--print-avail",
     ""},
    {"dpkg-deb", ".*", "-cIfWx", "U"},
    {"dpkg-reconfigure", ".*", "", "I"},
    {"yum|dnf|microdnf|zypper|apk|emerge|brew|port|snap|flatpak|nix-env|nix|"
     "guix|xbps-install|pkg|choco|winget|scoop",
     "v", "-yq --enablerepo=. --disablerepo=. --skip-broken", "-+"},
    {"pacman|yay|paru", ".*",
     "-Q!0 -Qi!0 -Qii!0 -Qs!0 -Ql!0 -Qe!0 -Qdt!0 -Qo!0 -Qk!0 -Qm!0 -Qn!0 -Qq!0 -Qqe!0 -Qu!0 "
     "-Ss!0 -Si!0 -Sl!0 -Sg!0 -F!0 -Fl!0",
     "I+_"},
    // Those that ask a server, or may: what is installed is known without one.
    {"yum list|yum search|yum info|yum provides|yum repolist|dnf list|"
     "dnf search|dnf info|dnf provides|dnf repolist|zypper search|zypper "
     "se|zypper info|yum check-update|dnf check-update|"
     "zypper list-updates|zypper lu|brew search|brew info|brew outdated|brew deps|brew leaves|"
     "snap find|snap info|flatpak search|port search",
     ".*", "-0aqv --installed --all --json --available --cask --formula --versions "
     "--enablerepo=. --disablerepo=.",
     "n+"},
    {"apk info|apk search|apk list|brew list|brew config|snap list|port "
     "list",
     ".*", "-0aqv --installed --all --json --available --cask --formula --versions", "+"},
    {"flatpak list|flatpak info", ".*", "-d --app --runtime --user --system --columns=. --all",
     "m+"},
    {"yum history|dnf history", "v", "", "-+"},
    {"yum history list|yum history info|dnf history list|dnf history info", ".*", "", "+"},
    {"brew doctor", ".*", "", "nj+"},
    {"yum groupinstall|dnf groupinstall|"
     "yum install|yum remove|yum update|yum upgrade|yum erase|yum clean|dnf install|"
     "dnf remove|dnf update|dnf upgrade|dnf autoremove|dnf clean|zypper install|"
     "zypper in|zypper remove|zypper rm|zypper update|zypper up|zypper refresh|"
     "zypper dup|apk add|apk del|apk update|apk upgrade|snap install|snap remove|"
     "snap refresh|flatpak install|flatpak uninstall|flatpak update|port install|"
     "port uninstall",
     ".*", "-0yqv --classic --no-cache --best --allowerasing --user --system --all --enablerepo=. "
     "--disablerepo=. --skip-broken",
     "nI+"},
    {"brew install|brew uninstall|brew update|brew upgrade|brew reinstall|brew "
     "remove|brew cleanup|brew tap|brew link|brew unlink",
     ".*", "-0qvfn --cask --formula --force", "ni+"},
    {"brew services", ".*", "", "S+"},
    {"rpm", ".*",
     "-ailfcdpRvV -q!m --query!m --all --info --list --file --changes --changelog "
     "--requires --provides --whatprovides -e!I -U!I -F!I --install!I --erase!I "
     "--upgrade!I --import!I",
     "+U"},
    {"npm|pnpm|bun", "v", "-0s --silent --quiet --prefix=n", "m-+"},
    // .yarnrc names a program of the project that runs instead.
    {"yarn", "v", "-0s --silent --quiet --prefix=n", "jm?-+"},
    {"npm ls|npm list|npm root|npm bin|npm help|npm prefix|npm explain|npm query|pnpm ls|"
     "pnpm list|pnpm why|yarn list|yarn why|bun pm",
     ".*", "-0agl --global --depth=. --json --long --all --production --prod --dev --parseable",
     "m+"},
    {"npm view|npm info|npm outdated|npm search|npm "
     "version-list|npm whoami|npm ping|npm doctor|npm fund|pnpm outdated|yarn info|"
     "yarn outdated|npm config-list",
     ".*",
     "-0agl --global --depth=. --json --long --all --production --prod --dev "
     "--parseable",
     "n+"},
    {"npm install|npm i|npm ci|npm add|npm update|npm up|npm uninstall|npm remove|"
     "npm rm|npm dedupe|npm prune|npm rebuild|npm link|npm audit|npm init|npm create|"
     "pnpm install|pnpm i|pnpm add|pnpm update|pnpm remove|yarn install|yarn add|"
     "yarn remove|yarn upgrade|bun install|bun add|bun remove|npm pack|npm version|"
     "npm cache|npm shrinkwrap",
     ".*",
     "-0DEOPSfywq -g!I --global!I --save --save-dev --save-exact --save-optional "
     "--no-save --production --omit=. --include=. --force --legacy-peer-deps "
     "--no-audit --no-fund --ignore-scripts --prefer-offline --frozen-lockfile "
     "--silent --quiet --yes --prefix=. --registry=. --workspace=. --workspaces "
     "--only=. --json --dev",
     "nij+"},
    {"npm run|npm run-script|npm test|npm t|npm start|npm stop|npm restart|npm exec|"
     "npm x|pnpm run|pnpm test|pnpm start|pnpm dev|pnpm build|pnpm exec|yarn run|"
     "yarn test|yarn start|yarn build|yarn dev|bun run|bun test",
     ".*", "-0sw --silent --if-present --workspace=. --workspaces --watch --coverage", "j+-"},
    {"npm publish|npm unpublish|npm deprecate|npm owner|npm access|npm token|npm "
     "login|npm logout|npm adduser|npm dist-tag|npm config|npm set",
     ".*", "", "nXU"},
    {"npx|pnpx|bunx|yarn-dlx|uvx", ".*", "", "nU"},
    {"pipx", "v", "-qv --quiet --verbose", "-+"},
    {"pipx list|pipx environment", ".*", "--json --short --include-injected", "+"},
    {"pipx install|pipx upgrade|pipx uninstall|pipx inject|pipx reinstall|pipx upgrade-all", ".*",
     "-fqv --force --quiet --verbose --include-deps --python=. --suffix=.", "nij+"},
    {"pip|pip2|pip3|uv", "v", "-0qv --quiet --verbose", "-+"},
    {"pip search", ".*", "", "n+"},
    {"pip list|pip show|pip freeze|pip check|pip inspect|pip debug|pip "
     "help|pip3 list|pip3 show|pip3 freeze|pip3 check",
     ".*",
     "-0felv -o!n -u!n --outdated!n --uptodate!n --format=. --user --local --files "
     "--not-required --all --verbose",
     ""},
    {"pip install|pip download|pip wheel|pip uninstall|pip3 install|pip3 uninstall|"
     "pip3 download|uv pip|uv sync|uv add|uv remove|uv lock|uv venv",
     ".*",
     "-0UqvyI -r:r -e:n -c:r -t:a -d:a -i:. -f:. --user --upgrade --requirement=r "
     "--constraint=r --editable=n --no-deps --pre --quiet --verbose --yes --target=a "
     "--prefix=a --root=a --no-cache-dir --index-url=. --extra-index-url=. "
     "--find-links=. --no-index --no-binary=. --only-binary=. --force-reinstall "
     "--ignore-installed --break-system-packages!I --dest=a --no-build-isolation "
     "--upgrade-strategy=.",
     "nij"},
    {"conda|mamba|micromamba", "v", "", "-+"},
    {"conda env|mamba env", "v", "", "-+"},
    {"conda env create|conda env update|conda env remove|mamba env create|mamba env remove", ".*",
     "-0yq -n:. -p:a -f:r --name=. --file=r --yes --quiet --prune --force", "nij+"},
    {"conda search|mamba search", ".*", "-c:. --channel=. --info --json --offline", "nm+"},
    {"conda list|conda info|conda env list|conda env export|mamba env list|"
     "mamba list|mamba info|conda config",
     ".*",
     "-0e -n:. --all --envs --json --show", "+"},
    {"conda install|conda update|conda create|conda remove|conda upgrade|mamba "
     "install|mamba create",
     ".*", "-0yq -n:. -c:. -p:a -f:r --yes --name=. --channel=. --file=r --all", "nij+"},
    {"cargo", "v", "-0qv --quiet --verbose --offline --locked --frozen", "-+"},
    {"cargo tree|cargo metadata|cargo version|cargo search|cargo locate-project|"
     "cargo pkgid|cargo help|cargo --list",
     ".*", "-0ied -p:. --format-version=. --no-deps --depth=.", "n+"},
    {"cargo build|cargo check|cargo test|cargo run|cargo bench|cargo clippy|cargo "
     "doc|cargo fmt|cargo b|cargo c|cargo t|cargo r|cargo fetch|cargo update|cargo "
     "add|cargo remove|cargo fix|cargo expand|cargo nextest|cargo miri|cargo init|"
     "cargo new|cargo clean|cargo vendor|cargo generate-lockfile|cargo package",
     ".*",
     "-0qv -p:. -j:. -F:. --release --all --workspace --features=. --all-features "
     "--no-default-features --lib --bin=. --bins --example=. --examples --test=. "
     "--tests --bench=. --all-targets --target=. --target-dir=a --package=. --jobs=. "
     "--quiet --verbose --no-run --open --check --offline --locked --frozen "
     "--manifest-path=n --fix --allow-dirty --edition=. --dev --profile=. --no-deps "
     "--message-format=.",
     "j+-"},
    {"cargo install|cargo uninstall", ".*", "-0f --force --path=n --git=. --version=. --locked",
     "nij+"},
    {"cargo publish|cargo yank|cargo login|cargo owner", ".*", "", "nXU"},
    {"go", "v", "", "-+"},
    {"go version|go env|go doc|go help", ".*", "-0 -m -json -f:. -u -all", "m+"},
    {"go build|go test|go run|go install|go get|go mod|go generate|go fmt|go clean|"
     "go work|go tool|go list|go vet",
     ".*",
     "-v -o:w -race -run:. -bench:. -benchmem -benchtime:. -count:. -tags:. -ldflags:. "
     "-gcflags:. -cover -covermode:. -coverpkg:. -coverprofile:w -timeout:. -short "
     "-failfast -parallel:. -cpu:. -shuffle:. -list:. -json -mod:. -p:. -trimpath "
     "-buildvcs:. -u -x -a -n -i",
     "j+-_"},
    {"make|gmake|bmake", "k*",
     "-0bBdeikLnpqrRsStvw -j?. -C:n -f:r -I:n -l?. -o:. -W:. -E:e --directory=n --file=r "
     "--jobs?. --keep-going --silent --quiet --always-make --dry-run --just-print "
     "--trace --print-directory --no-print-directory --debug?. "
     "--warn-undefined-variables --ignore-errors --output-sync?. --eval=e",
     "j"},
    {"gradle|gradlew|mvn|sbt|lein|dotnet|flutter", "e*", "", "jEm?+"},
    {"cmake|meson|ninja|bazel|scons|ant|rake|bundle|mix|"
     "rebar3|stack|cabal|dune|tox|nox|pytest|py.test|poetry|pipenv|hatch|pdm|just|"
     "task|invoke|fab|grunt|gulp|webpack|vite|tsc|eslint|prettier|black|ruff|flake8|"
     "mypy|pylint|isort|jest|mocha|ctest|cpack|composer|phpunit|rubocop|swift|"
     "xcodebuild|msbuild|zig|dart|ng|vue|next|turbo|nx|lerna",
     "e*", "", "jE+"},
    {"gcc|g++|cc|c++|clang|clang++|rustc|javac|ld|as|nvcc|gfortran", ".*", "", "jE+"},
    {"gem", "v", "", "-+"},
    {"gem list|gem info|gem env|gem which|gem help", ".*", "-0lad -r!n --local --remote!n --all",
     "+"},
    {"gem search|gem outdated", ".*", "-0lrad --local --remote --all", "n+"},
    {"gem install|gem uninstall|gem update", ".*",
     "-0Nx -v:. --user-install --no-document --version=.", "ni+"},
    {"rustup|nvm|pyenv|rbenv|asdf|sdk|fnm|volta|mise", ".*", "", "nU"},
};

}  // namespace

constinit const RowTable kPackageRows = table_of<kRows, 6>();

}  // namespace wick::shell
