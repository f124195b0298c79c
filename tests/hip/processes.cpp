// processes.cpp: a program that uses the card, forks, and starts another that uses it as well.
#include "check.h"

#include <sys/wait.h>
#include <unistd.h>

__global__ void count_up(int *values)
{
    values[threadIdx.x] += threadIdx.x;
}

static void use_card()
{
    int *values = upload(std::vector<int>(64, 5));
    count_up<<<1, 64>>>(values);
    const std::vector<int> result = download(values, 64);
    for (int i = 0; i < 64; i++) EXPECT(result[i] == 5 + i);
}

int main(int argc, char **argv)
{
    use_card();
    if (argc > 1) return done("child");
    const pid_t child = fork();
    if (child == 0) {
        execl(argv[0], argv[0], "child", nullptr);
        _exit(127);
    }
    const pid_t idle = fork(); // neither uses the card nor starts a program
    if (idle == 0) _exit(3);
    use_card();
    int status = -1;
    EXPECT(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    EXPECT(waitpid(idle, &status, 0) == idle && WIFEXITED(status) && WEXITSTATUS(status) == 3);
    return done("processes");
}
