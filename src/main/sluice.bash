# Completion of sluice for bash, as `sluice completion bash` prints it.
_sluice() {
    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} words word command=''
    case $previous in
        --listen) COMPREPLY=(); return ;;
        --data) mapfile -t COMPREPLY < <(compgen -d -- "$current"); return ;;
        --store) mapfile -t COMPREPLY < <(compgen -W 'embedded memory' -- "$current"); return ;;
        --redis) COMPREPLY=(); return ;;
        --kafka) COMPREPLY=(); return ;;
        --plans) mapfile -t COMPREPLY < <(compgen -f -- "$current"); return ;;
        --token-file) mapfile -t COMPREPLY < <(compgen -f -- "$current"); return ;;
        --tls-cert) mapfile -t COMPREPLY < <(compgen -f -- "$current"); return ;;
        --tls-key) mapfile -t COMPREPLY < <(compgen -f -- "$current"); return ;;
        --tls-client-ca) mapfile -t COMPREPLY < <(compgen -f -- "$current"); return ;;
        --log-level) mapfile -t COMPREPLY < <(compgen -W 'debug info warn error' -- "$current"); return ;;
        --log-format) mapfile -t COMPREPLY < <(compgen -W 'text json' -- "$current"); return ;;
        --config) mapfile -t COMPREPLY < <(compgen -f -- "$current"); return ;;
        --config-name) COMPREPLY=(); return ;;
        --at) COMPREPLY=(); return ;;
        --weight) COMPREPLY=(); return ;;
        --max-delay) COMPREPLY=(); return ;;
        --target) mapfile -t COMPREPLY < <(compgen -W 'log' -- "$current"); return ;;
        --target-url) COMPREPLY=(); return ;;
        --target-topic) COMPREPLY=(); return ;;
        --payload) COMPREPLY=(); return ;;
        --expires-after) COMPREPLY=(); return ;;
        --server) COMPREPLY=(); return ;;
        --ca) mapfile -t COMPREPLY < <(compgen -f -- "$current"); return ;;
        --client-cert) mapfile -t COMPREPLY < <(compgen -f -- "$current"); return ;;
        --client-key) mapfile -t COMPREPLY < <(compgen -f -- "$current"); return ;;
        --output) mapfile -t COMPREPLY < <(compgen -W 'text json' -- "$current"); return ;;
        --from) COMPREPLY=(); return ;;
        --for) COMPREPLY=(); return ;;
        --max-per-window) COMPREPLY=(); return ;;
        --window-size) COMPREPLY=(); return ;;
        --pool) COMPREPLY=(); return ;;
        --max-lookahead) COMPREPLY=(); return ;;
        --spread) mapfile -t COMPREPLY < <(compgen -W 'random stratified' -- "$current"); return ;;
        --past) mapfile -t COMPREPLY < <(compgen -W 'asSent now' -- "$current"); return ;;
        --max-per-second) COMPREPLY=(); return ;;
        --rate-holds) mapfile -t COMPREPLY < <(compgen -W 'receiver sender' -- "$current"); return ;;
        --retry-schedule) COMPREPLY=(); return ;;
        --state) mapfile -t COMPREPLY < <(compgen -W 'pending claimed sent retrying dead parked expired withdrawn' -- "$current"); return ;;
        --host) COMPREPLY=(); return ;;
        --after) COMPREPLY=(); return ;;
        --limit) COMPREPLY=(); return ;;
        --since) COMPREPLY=(); return ;;
        --until) COMPREPLY=(); return ;;
        --endpoint) COMPREPLY=(); return ;;
        --per-second) COMPREPLY=(); return ;;
        --plan) COMPREPLY=(); return ;;
        --tokens) COMPREPLY=(); return ;;
        --capacity) COMPREPLY=(); return ;;
        --refill) COMPREPLY=(); return ;;
        --window) COMPREPLY=(); return ;;
        --cooldown) COMPREPLY=(); return ;;
        --max-per-hour) COMPREPLY=(); return ;;
        --ttl) COMPREPLY=(); return ;;
        --algorithm) COMPREPLY=(); return ;;
        --start) COMPREPLY=(); return ;;
        --lease) COMPREPLY=(); return ;;
        --on-store-failure) COMPREPLY=(); return ;;
        --request-id) COMPREPLY=(); return ;;
        --to) COMPREPLY=(); return ;;
        --validity) COMPREPLY=(); return ;;
        --rate-limit) COMPREPLY=(); return ;;
        --time-window) COMPREPLY=(); return ;;
        --connections) COMPREPLY=(); return ;;
        --duration) COMPREPLY=(); return ;;
        --count) COMPREPLY=(); return ;;
        --rate) COMPREPLY=(); return ;;
        --prefix) COMPREPLY=(); return ;;
        --keys) COMPREPLY=(); return ;;
        --timeout) COMPREPLY=(); return ;;
    esac
    for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
        case $command in
            '') if [[ $word != -* ]]; then command=$word; fi ;;
            slot | config | work | dead | dispatch | key | plan | user | bench | completion) if [[ $word != -* ]]; then command+=" $word"; fi ;;
        esac
    done
    case $command in
        '') words='serve sender assign slot quote batch windows config work dead dispatch check key plan send user bench doctor wait completion help version --help --version' ;;
        'slot') words='get cancel move --help' ;;
        'config') words='list get set history --help' ;;
        'work') words='list --help' ;;
        'dead') words='list replay --help' ;;
        'dispatch') words='show pause resume rate --help' ;;
        'key') words='show reset override --help' ;;
        'plan') words='list set remove --help' ;;
        'user') words='get set --help' ;;
        'bench') words='slots check --help' ;;
        'completion') words='bash zsh fish --help' ;;
        'serve') words='--listen --data --store --redis --kafka --plans --token-file --tls-cert --tls-key --tls-client-ca --log-level --log-format --config --print-config --help' ;;
        'sender') words='--kafka --log-level --log-format --config --help' ;;
        'assign') words='--config-name --at --weight --max-delay --target --target-url --target-topic --payload --expires-after --server --ca --client-cert --client-key --output --help' ;;
        'slot get') words='--audit --server --ca --client-cert --client-key --output --help' ;;
        'slot cancel') words='--server --ca --client-cert --client-key --output --help' ;;
        'slot move') words='--at --server --ca --client-cert --client-key --output --help' ;;
        'quote') words='--config-name --at --weight --max-delay --server --ca --client-cert --client-key --output --help' ;;
        'batch') words='--config-name --at --atomic --server --ca --client-cert --client-key --output --help' ;;
        'windows') words='--config-name --from --for --server --ca --client-cert --client-key --output --help' ;;
        'config list') words='--token-file --server --ca --client-cert --client-key --output --help' ;;
        'config get') words='--token-file --server --ca --client-cert --client-key --output --help' ;;
        'config set') words='--max-per-window --window-size --pool --max-lookahead --spread --past --max-per-second --rate-holds --expires-after --retry-schedule --token-file --server --ca --client-cert --client-key --output --help' ;;
        'config history') words='--token-file --server --ca --client-cert --client-key --output --help' ;;
        'work list') words='--state --config-name --host --after --limit --server --ca --client-cert --client-key --output --help' ;;
        'dead list') words='--config-name --host --limit --server --ca --client-cert --client-key --output --help' ;;
        'dead replay') words='--host --since --until --token-file --server --ca --client-cert --client-key --output --help' ;;
        'dispatch show') words='--token-file --server --ca --client-cert --client-key --output --help' ;;
        'dispatch pause') words='--config-name --pool --host --endpoint --token-file --server --ca --client-cert --client-key --output --help' ;;
        'dispatch resume') words='--config-name --pool --host --endpoint --token-file --server --ca --client-cert --client-key --output --help' ;;
        'dispatch rate') words='--host --pool --per-second --none --rate-holds --token-file --server --ca --client-cert --client-key --output --help' ;;
        'check') words='--plan --tokens --server --ca --client-cert --client-key --output --help' ;;
        'key show') words='--plan --token-file --server --ca --client-cert --client-key --output --help' ;;
        'key reset') words='--plan --token-file --server --ca --client-cert --client-key --output --help' ;;
        'key override') words='--plan --capacity --refill --window --cooldown --max-per-hour --ttl --until --remove --token-file --server --ca --client-cert --client-key --output --help' ;;
        'plan list') words='--token-file --server --ca --client-cert --client-key --output --help' ;;
        'plan set') words='--algorithm --capacity --refill --window --start --cooldown --max-per-hour --lease --on-store-failure --shadow --token-file --server --ca --client-cert --client-key --output --help' ;;
        'plan remove') words='--token-file --server --ca --client-cert --client-key --output --help' ;;
        'send') words='--request-id --to --from --validity --server --ca --client-cert --client-key --output --help' ;;
        'user get') words='--server --ca --client-cert --client-key --output --help' ;;
        'user set') words='--rate-limit --time-window --token-file --server --ca --client-cert --client-key --output --help' ;;
        'bench slots') words='--connections --duration --count --rate --max-per-window --window-size --at --prefix --yes --json --token-file --server --ca --client-cert --client-key --output --help' ;;
        'bench check') words='--connections --duration --count --rate --plan --tokens --keys --prefix --yes --json --token-file --server --ca --client-cert --client-key --output --help' ;;
        'doctor') words='--config --data --recount --accept-loss --token-file --server --ca --client-cert --client-key --output --help' ;;
        'wait') words='--timeout --server --ca --client-cert --client-key --output --help' ;;
        'completion bash') words='--help' ;;
        'completion zsh') words='--help' ;;
        'completion fish') words='--help' ;;
        'help') words='--help' ;;
        'version') words='--output --help' ;;
        *) words='' ;;
    esac
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
}
complete -F _sluice sluice
