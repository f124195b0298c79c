// A dispatch of PyTorch over element types that instantiates kernels for some of them only,
// RMCP_TYPES: most of the time to compile. The kernels that remain are as they are without it.
// headers.py puts this into torch/headeronly/core/Dispatch.h.
#include <stdexcept>
#include <string>
#include <type_traits>
namespace rmcp_few
{
constexpr char letter(c10::ScalarType t)
{
    switch (t) {
    case c10::ScalarType::Float: return 'f';
    case c10::ScalarType::Half: return 'h';
    case c10::ScalarType::Long: return 'l';
    case c10::ScalarType::Int: return 'i';
    case c10::ScalarType::Bool: return 'b';
    default: return 0;
    }
}
constexpr bool kept(c10::ScalarType t)
{
    for (const char *c = RMCP_TYPES; *c; c++)
        if (*c == letter(t)) return true;
    return false;
}
[[noreturn]] inline void left_out(c10::ScalarType t)
{
    throw std::runtime_error(std::string("element type ") + c10::toString(t) +
                             " was left out of this build");
}
template <c10::ScalarType t> using tag = std::integral_constant<c10::ScalarType, t>;
} // namespace rmcp_few
// The generic lambda makes the body a template, so that it is not instantiated for types that are
// left out.
#define THO_PRIVATE_CASE_TYPE_USING_HINT_TMPL(PRELUDE, enum_type, HINT, ...)                       \
    case enum_type: {                                                                              \
        PRELUDE(enum_type);                                                                        \
        auto rmcp_one = [&](auto rmcp_tag) {                                                       \
            constexpr auto rmcp_type = decltype(rmcp_tag)::value;                                  \
            if constexpr (rmcp_few::kept(rmcp_type)) {                                             \
                using HINT [[maybe_unused]] =                                                      \
                    torch::headeronly::impl::ScalarTypeToCPPTypeT<decltype(rmcp_tag)::value>;      \
                return __VA_ARGS__();                                                              \
            } else {                                                                               \
                rmcp_few::left_out(rmcp_type);                                                     \
            }                                                                                      \
        };                                                                                         \
        if constexpr (rmcp_few::kept(enum_type)) {                                                 \
            return rmcp_one(rmcp_few::tag<enum_type>{});                                           \
        } else {                                                                                   \
            rmcp_few::left_out(enum_type);                                                         \
        }                                                                                          \
    }
