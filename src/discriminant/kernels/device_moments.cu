// Gram matrix and class sums of float32 rows in one read, by one warp for 16 rows at a time.
//
//   RᵗR ≈ hᵗh + hᵗl + lᵗh,   sums = (h + l)ᵗ M,   R = (X − shift) / unit,  h = half(R),  l = half(R − h)
//
// A lane's registers serve as both factors of mma.m16n8k16: the fragment of Rᵗ (columns × rows) and that of R (rows ×
// columns) hold the same elements in the same lanes, so rows go from memory to the matrix units without being turned.
// Column (j, g), tile j and lane group g, is column 32 (j / 4) + 4 g + j % 4 of X: 16 bytes a lane and load.
//
// Matrix units cut off what they add, so they add GROUP rows only; a chunk of rows is added in float32 in shared memory,
// and chunks are added by the caller in float64.
// Given by the caller: D (columns), CLASSES, TILES (4 or 8), CLASS_TILES (1 or 2), SHIFTED, WARPS, STAGES, GROUP.

typedef unsigned int u32;
typedef long long i64;

#define PAIRS (TILES / 2)
#define UPPER (PAIRS * (PAIRS + 1))  // tiles of 16 × 8 on and above the diagonal
#define KEPT (4 * (UPPER + PAIRS * CLASS_TILES))  // accumulators of a lane
#define WIDE (8 * TILES + 8)  // floats of a row in shared memory: 8 more keep the lanes in different banks
#define LEFT (32 * KEPT + 16)  // floats that a chunk leaves: the accumulators, then the class counts
#define STAGE (16 * WIDE + 32)  // floats of 16 rows and their class codes

__device__ __forceinline__ u32 halves(float low, float high) {
    u32 r;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(high), "f"(low));
    return r;
}

// The same value by another instruction.  Left and right factors want their registers in another order; a compiler that
// knows the values to be equal copies registers before every second product.  (What is infinite stays so on one side.)
__device__ __forceinline__ u32 halves_again(float low, float high) {
    u32 r;
    asm("cvt.rn.satfinite.f16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(high), "f"(low));
    return r;
}

__device__ __forceinline__ void floats(u32 h, float &low, float &high) {
    asm("{.reg .f16 a, b; mov.b32 {a, b}, %2; cvt.f32.f16 %0, a; cvt.f32.f16 %1, b;}" : "=f"(low), "=f"(high) : "r"(h));
}

__device__ __forceinline__ void multiply(float *c, const u32 (&a)[4], const u32 (&b)[2]) {
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

__device__ __forceinline__ void copy16(float *to, const void *from) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"((u32)__cvta_generic_to_shared(to)), "l"(from) : "memory");
}

__device__ __forceinline__ void copy_some(float *to, const void *from, int bytes) {  // the rest of the 16 are zeros
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"((u32)__cvta_generic_to_shared(to)), "l"(from), "r"(bytes) : "memory");
}

__device__ __forceinline__ int column(int j, int g) { return 32 * (j / 4) + 4 * g + j % 4; }

// 16 rows and their codes on their way into shared memory; each quarter of the warp takes a contiguous piece of a row.
// ``rows`` of the 16 exist; the others are zeros.
__device__ __forceinline__ void fetch(float *stage, const float *X, const i64 *codes, int rows, int lane) {
    const int at = 4 * (lane & 7), r = lane >> 3;
    float *to = stage + r * WIDE + at;
    const float *from = X + r * D + at;
#if D == 8 * TILES
    if (rows >= 16) {
#pragma unroll
        for (int s = 0; s < 4; ++s)
#pragma unroll
            for (int q = 0; q < TILES / 4; ++q) copy16(to + 4 * s * WIDE + 32 * q, from + 4 * s * D + 32 * q);
        if (lane < 8) copy16(stage + 16 * WIDE + at, codes + 2 * lane);
        asm volatile("cp.async.commit_group;" ::: "memory");
        return;
    }
#endif
#pragma unroll
    for (int s = 0; s < 4; ++s)
#pragma unroll
        for (int q = 0; q < TILES / 4; ++q) {
#if D % 4 == 0
            const bool here = 32 * q + at < D && 4 * s + r < rows;
            copy_some(to + 4 * s * WIDE + 32 * q, here ? from + 4 * s * D + 32 * q : X, here ? 16 : 0);
#else
#pragma unroll
            for (int e = 0; e < 4; ++e)
                to[4 * s * WIDE + 32 * q + e] = (4 * s + r < rows && 32 * q + at + e < D) ? __ldg(from + 4 * s * D + 32 * q + e) : 0.f;
#endif
        }
    if (lane < 8) {
        const int left = 8 * (rows - 2 * lane);
        copy_some(stage + 16 * WIDE + at, left > 0 ? codes + 2 * lane : codes, left >= 16 ? 16 : left > 0 ? left : 0);
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
}

extern "C" __global__ void __launch_bounds__(32 * WARPS, 1)
moments(const float *X, const i64 *codes, const float *shift, const float *inverse, float *out, const i64 n, const i64 chunk) {
    extern __shared__ float memory[];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, g = lane >> 2, t = lane & 3;
    float *mine = memory + warp * (STAGES * STAGE + KEPT * 32);
    float4 *kept = (float4 *)(mine + STAGES * STAGE);
    float scale[TILES];
#pragma unroll
    for (int j = 0; j < TILES; ++j) scale[j] = column(j, g) < D ? inverse[column(j, g)] : 0.f;

    for (i64 part = (i64)blockIdx.x * WARPS + warp; part * chunk < n; part += (i64)gridDim.x * WARPS) {
        const float *rows = X + part * chunk * D;
        const i64 *classes = codes + part * chunk;
        const int count = (int)min(chunk, n - part * chunk), steps = (count + 15) / 16;
        float acc[KEPT / 4][4];
#pragma unroll
        for (int i = 0; i < KEPT / 4; ++i) {
            acc[i][0] = acc[i][1] = acc[i][2] = acc[i][3] = 0.f;
            kept[i * 32 + lane] = make_float4(0.f, 0.f, 0.f, 0.f);
        }
        int members[CLASS_TILES];
#pragma unroll
        for (int k = 0; k < CLASS_TILES; ++k) members[k] = 0;
        __syncwarp();
#pragma unroll
        for (int s = 0; s < STAGES - 1; ++s) fetch(mine + s * STAGE, rows + 16 * s * D, classes + 16 * s, count - 16 * s, lane);
        float *now = mine, *later = mine + (STAGES - 1) * STAGE;
        const float *next = rows + (STAGES - 1) * 16 * D;
        const i64 *next_classes = classes + (STAGES - 1) * 16;
        int left = count - (STAGES - 1) * 16;

        for (int step = 0; step < steps; ++step) {
            asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2) : "memory");
            __syncwarp();  // what others fetched is there, and what is overwritten now was read by all
            fetch(later, next, next_classes, left, lane);
            next += 16 * D;
            next_classes += 16;
            left -= 16;
            const float *stage = now;
            later = now;
            now = now + STAGE == (float *)kept ? mine : now + STAGE;
            int code[4];
#pragma unroll
            for (int s = 0; s < 4; ++s) {
                const i64 whole = ((const i64 *)(stage + 16 * WIDE))[4 * s + t];
                code[s] = whole >= 0 && whole < CLASSES ? (int)whole : -1;
                if (left <= -16 * (STAGES - 1) && 16 * step + 4 * s + t >= count) code[s] = -1;
            }
            u32 h[TILES][2], l[TILES][2], ht[PAIRS][4], lt[PAIRS][4];  // as right and as left factors
#pragma unroll
            for (int q = 0; q < TILES / 4; ++q) {
                float x[4][4];
#pragma unroll
                for (int s = 0; s < 4; ++s) {
                    const float4 v = *(const float4 *)(stage + (4 * s + t) * WIDE + 32 * q + 4 * g);
                    x[s][0] = v.x; x[s][1] = v.y; x[s][2] = v.z; x[s][3] = v.w;
#if SHIFTED
                    if (code[s] >= 0)
#pragma unroll
                        for (int e = 0; e < 4; ++e)
                            if (column(4 * q + e, g) < D) x[s][e] -= __ldg(shift + code[s] * D + column(4 * q + e, g));
#endif
                }
#pragma unroll
                for (int e = 0; e < 4; ++e)
#pragma unroll
                    for (int p = 0; p < 2; ++p) {
                        const float a = x[2 * p][e] * scale[4 * q + e], b = x[2 * p + 1][e] * scale[4 * q + e];
                        const int j = 4 * q + e;
                        float high_a, high_b;
                        h[j][p] = halves(a, b);
                        ht[j / 2][2 * p + j % 2] = halves_again(a, b);
                        floats(h[j][p], high_a, high_b);
                        l[j][p] = halves(a - high_a, b - high_b);
                        lt[j / 2][2 * p + j % 2] = halves_again(a - high_a, b - high_b);
                    }
            }
            // one kind of product after the other: products into the same accumulator wait for each other
#pragma unroll
            for (int kind = 0; kind < 3; ++kind) {
                int at = 0;
#pragma unroll
                for (int i = 0; i < PAIRS; ++i)
#pragma unroll
                    for (int j = 2 * i; j < TILES; ++j, ++at) {
                        if (kind == 0) multiply(acc[at], ht[i], l[j]);
                        if (kind == 1) multiply(acc[at], lt[i], h[j]);
                        if (kind == 2) multiply(acc[at], ht[i], h[j]);
                    }
            }
#pragma unroll
            for (int k = 0; k < CLASS_TILES; ++k) {
                u32 member[2];
#pragma unroll
                for (int p = 0; p < 2; ++p) {
                    const bool a = code[2 * p] == g + 8 * k, b = code[2 * p + 1] == g + 8 * k;
                    member[p] = (a ? 0x3C00u : 0u) | (b ? 0x3C000000u : 0u);
                    members[k] += (int)a + (int)b;
                }
#pragma unroll
                for (int i = 0; i < PAIRS; ++i) multiply(acc[UPPER + k * PAIRS + i], lt[i], member);
#pragma unroll
                for (int i = 0; i < PAIRS; ++i) multiply(acc[UPPER + k * PAIRS + i], ht[i], member);
            }
            if ((step + 1) % (GROUP / 16) == 0 || step + 1 == steps)
#pragma unroll
                for (int i = 0; i < KEPT / 4; ++i) {
                    float4 v = kept[i * 32 + lane];
                    v.x += acc[i][0]; v.y += acc[i][1]; v.z += acc[i][2]; v.w += acc[i][3];
                    kept[i * 32 + lane] = v;
                    acc[i][0] = acc[i][1] = acc[i][2] = acc[i][3] = 0.f;
                }
        }
#pragma unroll
        for (int i = 0; i < KEPT / 4; ++i) ((float4 *)(out + part * LEFT))[i * 32 + lane] = kept[i * 32 + lane];
        // the lanes t = 0..3 of a group counted different rows of the class g + 8 k
#pragma unroll
        for (int k = 0; k < 2; ++k) {
            int total = k < CLASS_TILES ? members[k % CLASS_TILES] : 0;
            total += __shfl_xor_sync(0xffffffffu, total, 1);
            total += __shfl_xor_sync(0xffffffffu, total, 2);
            if (t == 0) out[part * LEFT + 32 * KEPT + 8 * k + g] = (float)total;
        }
        asm volatile("cp.async.wait_all;" ::: "memory");
        __syncwarp();
    }
}
