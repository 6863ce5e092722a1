#compdef sluice
# Completion of sluice for zsh, as `sluice completion zsh` prints it.
_sluice() {
    local word offered command=''
    case ${words[CURRENT - 1]} in
        --listen) return ;;
        --data) _directories; return ;;
        --store) compadd -- embedded memory; return ;;
        --redis) return ;;
        --kafka) return ;;
        --plans) _files; return ;;
        --token-file) _files; return ;;
        --tls-cert) _files; return ;;
        --tls-key) _files; return ;;
        --tls-client-ca) _files; return ;;
        --log-level) compadd -- debug info warn error; return ;;
        --log-format) compadd -- text json; return ;;
        --config) _files; return ;;
        --config-name) return ;;
        --at) return ;;
        --weight) return ;;
        --max-delay) return ;;
        --target) compadd -- log; return ;;
        --target-url) return ;;
        --target-topic) return ;;
        --payload) return ;;
        --expires-after) return ;;
        --server) return ;;
        --ca) _files; return ;;
        --client-cert) _files; return ;;
        --client-key) _files; return ;;
        --output) compadd -- text json; return ;;
        --from) return ;;
        --for) return ;;
        --max-per-window) return ;;
        --window-size) return ;;
        --pool) return ;;
        --max-lookahead) return ;;
        --spread) compadd -- random stratified; return ;;
        --past) compadd -- asSent now; return ;;
        --max-per-second) return ;;
        --rate-holds) compadd -- receiver sender; return ;;
        --retry-schedule) return ;;
        --state) compadd -- pending claimed sent retrying dead parked expired withdrawn; return ;;
        --host) return ;;
        --after) return ;;
        --limit) return ;;
        --since) return ;;
        --until) return ;;
        --endpoint) return ;;
        --per-second) return ;;
        --plan) return ;;
        --tokens) return ;;
        --capacity) return ;;
        --refill) return ;;
        --window) return ;;
        --cooldown) return ;;
        --max-per-hour) return ;;
        --ttl) return ;;
        --algorithm) return ;;
        --start) return ;;
        --lease) return ;;
        --on-store-failure) return ;;
        --request-id) return ;;
        --to) return ;;
        --validity) return ;;
        --rate-limit) return ;;
        --time-window) return ;;
        --connections) return ;;
        --duration) return ;;
        --count) return ;;
        --rate) return ;;
        --prefix) return ;;
        --keys) return ;;
        --timeout) return ;;
    esac
    for word in "${(@)words[2,CURRENT - 1]}"; do
        case $command in
            '') if [[ $word != -* ]]; then command=$word; fi ;;
            slot | config | work | dead | dispatch | key | plan | user | bench | completion) if [[ $word != -* ]]; then command+=" $word"; fi ;;
        esac
    done
    case $command in
        '') offered='serve sender assign slot quote batch windows config work dead dispatch check key plan send user bench doctor wait completion help version --help --version' ;;
        'slot') offered='get cancel move --help' ;;
        'config') offered='list get set history --help' ;;
        'work') offered='list --help' ;;
        'dead') offered='list replay --help' ;;
        'dispatch') offered='show pause resume rate --help' ;;
        'key') offered='show reset override --help' ;;
        'plan') offered='list set remove --help' ;;
        'user') offered='get set --help' ;;
        'bench') offered='slots check --help' ;;
        'completion') offered='bash zsh fish --help' ;;
        'serve') offered='--listen --data --store --redis --kafka --plans --token-file --tls-cert --tls-key --tls-client-ca --log-level --log-format --config --print-config --help' ;;
        'sender') offered='--kafka --log-level --log-format --config --help' ;;
        'assign') offered='--config-name --at --weight --max-delay --target --target-url --target-topic --payload --expires-after --server --ca --client-cert --client-key --output --help' ;;
        'slot get') offered='--audit --server --ca --client-cert --client-key --output --help' ;;
        'slot cancel') offered='--server --ca --client-cert --client-key --output --help' ;;
        'slot move') offered='--at --server --ca --client-cert --client-key --output --help' ;;
        'quote') offered='--config-name --at --weight --max-delay --server --ca --client-cert --client-key --output --help' ;;
        'batch') offered='--config-name --at --atomic --server --ca --client-cert --client-key --output --help' ;;
        'windows') offered='--config-name --from --for --server --ca --client-cert --client-key --output --help' ;;
        'config list') offered='--token-file --server --ca --client-cert --client-key --output --help' ;;
        'config get') offered='--token-file --server --ca --client-cert --client-key --output --help' ;;
        'config set') offered='--max-per-window --window-size --pool --max-lookahead --spread --past --max-per-second --rate-holds --expires-after --retry-schedule --token-file --server --ca --client-cert --client-key --output --help' ;;
        'config history') offered='--token-file --server --ca --client-cert --client-key --output --help' ;;
        'work list') offered='--state --config-name --host --after --limit --server --ca --client-cert --client-key --output --help' ;;
        'dead list') offered='--config-name --host --limit --server --ca --client-cert --client-key --output --help' ;;
        'dead replay') offered='--host --since --until --token-file --server --ca --client-cert --client-key --output --help' ;;
        'dispatch show') offered='--token-file --server --ca --client-cert --client-key --output --help' ;;
        'dispatch pause') offered='--config-name --pool --host --endpoint --token-file --server --ca --client-cert --client-key --output --help' ;;
        'dispatch resume') offered='--config-name --pool --host --endpoint --token-file --server --ca --client-cert --client-key --output --help' ;;
        'dispatch rate') offered='--host --pool --per-second --none --rate-holds --token-file --server --ca --client-cert --client-key --output --help' ;;
        'check') offered='--plan --tokens --server --ca --client-cert --client-key --output --help' ;;
        'key show') offered='--plan --token-file --server --ca --client-cert --client-key --output --help' ;;
        'key reset') offered='--plan --token-file --server --ca --client-cert --client-key --output --help' ;;
        'key override') offered='--plan --capacity --refill --window --cooldown --max-per-hour --ttl --until --remove --token-file --server --ca --client-cert --client-key --output --help' ;;
        'plan list') offered='--token-file --server --ca --client-cert --client-key --output --help' ;;
        'plan set') offered='--algorithm --capacity --refill --window --start --cooldown --max-per-hour --lease --on-store-failure --shadow --token-file --server --ca --client-cert --client-key --output --help' ;;
        'plan remove') offered='--token-file --server --ca --client-cert --client-key --output --help' ;;
        'send') offered='--request-id --to --from --validity --server --ca --client-cert --client-key --output --help' ;;
        'user get') offered='--server --ca --client-cert --client-key --output --help' ;;
        'user set') offered='--rate-limit --time-window --token-file --server --ca --client-cert --client-key --output --help' ;;
        'bench slots') offered='--connections --duration --count --rate --max-per-window --window-size --at --prefix --yes --json --token-file --server --ca --client-cert --client-key --output --help' ;;
        'bench check') offered='--connections --duration --count --rate --plan --tokens --keys --prefix --yes --json --token-file --server --ca --client-cert --client-key --output --help' ;;
        'doctor') offered='--config --data --recount --accept-loss --token-file --server --ca --client-cert --client-key --output --help' ;;
        'wait') offered='--timeout --server --ca --client-cert --client-key --output --help' ;;
        'completion bash') offered='--help' ;;
        'completion zsh') offered='--help' ;;
        'completion fish') offered='--help' ;;
        'help') offered='--help' ;;
        'version') offered='--output --help' ;;
        *) offered='' ;;
    esac
    compadd -- ${=offered}
    if [[ $command == batch ]]; then _files; fi
}
if [[ $funcstack[1] == _sluice ]]; then _sluice "$@"; else compdef _sluice sluice; fi
