/* api_pool.h: the part of api.h with pooling and local response normalisation; included by it
 * alone. */
#ifndef RMCP_MIOPEN_API_POOL_H
#define RMCP_MIOPEN_API_POOL_H

typedef struct miopenPoolingDescriptor *miopenPoolingDescriptor_t;
typedef struct miopenLRNDescriptor *miopenLRNDescriptor_t;

typedef enum {
    miopenIndexUint8 = 0,
    miopenIndexUint16 = 1,
    miopenIndexUint32 = 2,
    miopenIndexUint64 = 3
} miopenIndexType_t;

typedef enum {
    miopenPoolingMax = 0,
    miopenPoolingAverage = 1,
    miopenPoolingAverageInclusive = 2
} miopenPoolingMode_t;

typedef enum {
    miopenPoolingWorkspaceIndexMask = 0,
    miopenPoolingWorkspaceIndexImage = 1
} miopenPoolingWorkspaceIndexMode_t;

typedef enum { miopenLRNWithinChannel = 0, miopenLRNCrossChannel = 1 } miopenLRNMode_t;

miopenStatus_t miopenCreatePoolingDescriptor(miopenPoolingDescriptor_t *);
miopenStatus_t miopenDestroyPoolingDescriptor(miopenPoolingDescriptor_t);
miopenStatus_t miopenSetPoolingIndexType(miopenPoolingDescriptor_t, miopenIndexType_t);
miopenStatus_t miopenGetPoolingIndexType(miopenPoolingDescriptor_t, miopenIndexType_t *);
miopenStatus_t miopenSetPoolingWorkSpaceIndexMode(miopenPoolingDescriptor_t,
                                                  miopenPoolingWorkspaceIndexMode_t);
miopenStatus_t miopenGetPoolingWorkSpaceIndexMode(miopenPoolingDescriptor_t,
                                                  miopenPoolingWorkspaceIndexMode_t *);
miopenStatus_t miopenSet2dPoolingDescriptor(miopenPoolingDescriptor_t, miopenPoolingMode_t, int,
                                            int, int, int, int, int);
miopenStatus_t miopenGet2dPoolingDescriptor(miopenPoolingDescriptor_t, miopenPoolingMode_t *, int *,
                                            int *, int *, int *, int *, int *);
miopenStatus_t miopenSetNdPoolingDescriptor(miopenPoolingDescriptor_t, miopenPoolingMode_t, int,
                                            const int *, const int *, const int *);
miopenStatus_t miopenGetNdPoolingDescriptor(miopenPoolingDescriptor_t, int, miopenPoolingMode_t *,
                                            int *, int *, int *, int *);
miopenStatus_t miopenGetPoolingForwardOutputDim(miopenPoolingDescriptor_t, miopenTensorDescriptor_t,
                                                int *, int *, int *, int *);
miopenStatus_t miopenGetPoolingNdForwardOutputDim(miopenPoolingDescriptor_t,
                                                  miopenTensorDescriptor_t, int, int *);
miopenStatus_t miopenPoolingGetWorkSpaceSize(miopenTensorDescriptor_t, size_t *);
miopenStatus_t miopenPoolingGetWorkSpaceSizeV2(miopenPoolingDescriptor_t, miopenTensorDescriptor_t,
                                               size_t *);
miopenStatus_t miopenPoolingForward(miopenHandle_t, miopenPoolingDescriptor_t, const void *,
                                    miopenTensorDescriptor_t, const void *, const void *,
                                    miopenTensorDescriptor_t, void *, bool, void *, size_t);
miopenStatus_t miopenPoolingBackward(miopenHandle_t, miopenPoolingDescriptor_t, const void *,
                                     miopenTensorDescriptor_t, const void *,
                                     miopenTensorDescriptor_t, const void *,
                                     miopenTensorDescriptor_t, const void *, const void *,
                                     miopenTensorDescriptor_t, void *, void *);

miopenStatus_t miopenCreateLRNDescriptor(miopenLRNDescriptor_t *);
miopenStatus_t miopenDestroyLRNDescriptor(miopenLRNDescriptor_t);
miopenStatus_t miopenSetLRNDescriptor(miopenLRNDescriptor_t, miopenLRNMode_t, unsigned int, double,
                                      double, double);
miopenStatus_t miopenGetLRNDescriptor(miopenLRNDescriptor_t, miopenLRNMode_t *, unsigned int *,
                                      double *, double *, double *);
miopenStatus_t miopenLRNGetWorkSpaceSize(miopenTensorDescriptor_t, size_t *);
miopenStatus_t miopenLRNForward(miopenHandle_t, miopenLRNDescriptor_t, const void *,
                                miopenTensorDescriptor_t, const void *, const void *,
                                miopenTensorDescriptor_t, void *, bool, void *);
miopenStatus_t miopenLRNBackward(miopenHandle_t, miopenLRNDescriptor_t, const void *,
                                 miopenTensorDescriptor_t, const void *, miopenTensorDescriptor_t,
                                 const void *, miopenTensorDescriptor_t, const void *, const void *,
                                 miopenTensorDescriptor_t, void *, const void *);

#endif
