#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include <boost/beast/core/buffers_range.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/optional/optional.hpp>

namespace sluice::net {

// A body of Beast's that keeps at most so many bytes, whatever length was announced, and then ends the
// reading with http::error::body_limit. Beast's own bound throws the beginning away, and its string makes
// room for whatever length a server announces.
struct BoundedBody {
    struct value_type {  // NOLINT(readability-identifier-naming): Beast asks for this name,
        std::string bytes{};
        std::size_t most = 0;
        bool cut = false;  // There was more.
    };

    class reader {  // NOLINT(readability-identifier-naming): and for this one.
    public:
        template <bool IsRequest, class Fields>
        reader(boost::beast::http::header<IsRequest, Fields>& /*head*/, value_type& body) : body_{body} {}

        void init(const boost::optional<std::uint64_t>& /*announced*/, boost::system::error_code& error) {
            error = {};
        }

        template <class Buffers>
        std::size_t put(const Buffers& buffers, boost::system::error_code& error) {
            error = {};
            std::size_t taken = 0;
            for (const auto buffer : boost::beast::buffers_range_ref(buffers)) {
                const std::size_t fits = std::min(buffer.size(), body_.most - body_.bytes.size());
                body_.bytes.append(static_cast<const char*>(buffer.data()), fits);
                taken += fits;
                if (fits < buffer.size()) {
                    body_.cut = true;
                    error = boost::beast::http::error::body_limit;
                    return taken;
                }
            }
            return taken;
        }

        void finish(boost::system::error_code& error) { error = {}; }

    private:
        value_type& body_;
    };
};

}  // namespace sluice::net
